"""Executor on a Dask cluster, which only passes on tickets: each goes to one worker that is chosen here, and only once.

Nothing is left to the scheduler's own recovery: tasks have one worker, no retries and no allowed failures.
"""

from __future__ import annotations

import asyncio
import logging
import os
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING

import dask
from distributed import Client, LocalCluster

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.execution.engine.executors import worker_task
from execplan.execution.engine.executors.cluster_checks import (
    absent_workers_error,
    check_processes,
    connection_error,
    connection_lost_error,
    no_workers_error,
    scheduler_address,
)
from execplan.execution.engine.executors.executor import Finished, Worker
from execplan.execution.engine.executors.executor_address import worker_name
from execplan.execution.engine.executors.ticket_watch import DaskSubmission, watch_ticket
from execplan.execution.engine.executors.workspace_copies import SEND_SECONDS, WorkspaceCopies

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Future
    from typing import Any, TypeVar

    from execplan.execution.engine.executors.executor_address import ExecutorAddress
    from execplan.execution.engine.executors.worker_workspace import PackedWorkspace

    T = TypeVar("T")

_CONNECT_SECONDS = 15
"""Seconds to wait for a scheduler, or for its first worker."""
_ANSWER_SECONDS = 10
"""Seconds to wait for the answer of a worker."""
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.daemon": True,
    "distributed.admin.tick.limit": "60s",  # the event loop may wait for the processor without a warning
    "distributed.admin.large-graph-warning-threshold": "1TB",  # a ticket contains the files that earlier steps made
}
"""Settings of Dask for this process and the workers that it starts."""


class DaskExecutor:
    """A connection to a cluster, or a cluster on this machine that ends with it."""

    def __init__(self, address: ExecutorAddress) -> None:
        """Connect, and check the scheduler and every worker. Raises ExecplanError."""
        self.name, self.slots = address.text, 0
        self._address = address
        self._client: Any = None
        self._cluster: Any = None
        self._threads: dict[str, int] = {}
        self._loads: dict[str, int] = {}
        """Number of tickets by the address of the worker that has them."""
        self._workers: dict[str, Worker] = {}
        self._copies = WorkspaceCopies(self._ask)
        self._lost: set[str] = set()
        """Addresses of workers that lost a ticket; they get another one only if no other worker is left."""
        self._lock = Lock()
        self._loop = asyncio.new_event_loop()
        # What fails in Dask's own tasks, such as a late answer when the connection is closed, changes no result.
        self._loop.set_exception_handler(
            lambda loop, context: trace.log(f"dask: {context.get('exception') or context}")
        )
        self._thread = Thread(target=self._loop.run_forever, name="dask", daemon=True)
        self._thread.start()
        try:
            self._call(self._connect(), 4 * _CONNECT_SECONDS)
        except TimeoutError as error:
            self.close()
            raise connection_error(self.name, error) from None
        except BaseException:
            self.close()
            raise

    def reserve(self, workspace: PackedWorkspace) -> Worker:
        """Choose the worker with the fewest tickets for its threads, after all have the workspace.

        A worker that lost a ticket is chosen only if no other is left and it answers again. Raises ExecplanError if no
        worker is left that has the workspace.
        """
        lost, candidates = self._lost, self._find_candidates(workspace)
        if lost and not candidates:
            self._lost = set()
            candidates = self._find_candidates(workspace)
        if not candidates:
            reasons = dict.fromkeys(lost, "was lost and does not answer")
            raise no_workers_error(
                self.name, {**reasons, **dict.fromkeys(self._copies.unusable, "did not take the workspace")}
            )
        with self._lock:
            chosen = min(
                candidates, key=lambda worker: self._loads.get(worker.address, 0) / self._threads[worker.address]
            )
            self._loads[chosen.address] = self._loads.get(chosen.address, 0) + 1
        return chosen

    def _find_candidates(self, workspace: PackedWorkspace) -> list[Worker]:
        """Return the workers that have a workspace, after all have got it. Raises ExecplanError."""
        try:
            self._call(self._update_workers(), _CONNECT_SECONDS + _ANSWER_SECONDS)
            self._call(self._copies.send(workspace, self._workers.values()), SEND_SECONDS + _ANSWER_SECONDS)
        except ExecplanError:
            raise
        except Exception as error:  # noqa: BLE001 - Dask raises errors of any type once the scheduler has been gone for a while
            trace.log(f"{self.name} does not answer: {error!r}")
            raise connection_lost_error(self.name) from None
        with self._lock:
            return [worker for worker in self._workers.values() if self._copies.has(worker, workspace)]

    def submit(self, worker: Worker, ticket_id: str, data: bytes) -> DaskSubmission:
        """Give a packed ticket to a reserved worker."""
        return DaskSubmission(self._start, partial(self._watch, worker, ticket_id, data))

    def close(self) -> None:
        """Leave the cluster, and end its processes if they were started for this run."""
        try:
            self._call(self._disconnect(), 2 * _CONNECT_SECONDS)
        except Exception as error:  # noqa: BLE001 - the outcome of the run counts; workers end when this process ends
            trace.log(f"could not leave {self.name}: {error!r}")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the thread of the connection."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _watch(self, worker: Worker, ticket_id: str, data: bytes, cancelled: asyncio.Event) -> Finished:
        """Run a ticket on its worker and return how it ended; a worker that lost it gets no others."""
        finished = Finished()
        try:
            finished = await watch_ticket(self._client, worker, ticket_id, data, cancelled)
        finally:
            with self._lock:
                self._loads[worker.address] -= 1
                if finished.lost:
                    self._workers.pop(worker.address, None)
                    self._lost.add(worker.address)
        return finished

    def _call(self, coroutine: Coroutine[Any, Any, T], seconds: float) -> T:
        """Run a coroutine in the thread of the connection and return its result."""
        return self._start(coroutine).result(seconds)

    async def _connect(self) -> None:
        dask.config.set(_SETTINGS)
        for logger in ("distributed", "distributed.client"):  # errors are reported as those of the run
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        scheduler = await self._start_cluster() if self._address.is_local else _scheduler_address(self._address)
        try:
            self._client = await Client(  # type: ignore[no-untyped-call]
                scheduler, asynchronous=True, timeout=_CONNECT_SECONDS, set_as_default=False, name="execplan"
            )
            try:
                await self._client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            except TimeoutError:
                raise absent_workers_error(self.name, _CONNECT_SECONDS) from None
            description = await self._describe_scheduler()
        except (OSError, TimeoutError) as error:
            raise connection_error(self.name, error) from None
        check_processes(self.name, {"the scheduler": description})
        await self._update_workers()
        self.slots = sum(self._threads.values())

    async def _describe_scheduler(self) -> Any:
        """Return the description of the scheduler, or the exception that it raised. Raises OSError and TimeoutError."""
        try:
            return await self._client.run_on_scheduler(worker_task.describe_scheduler)
        except (OSError, TimeoutError):
            raise
        except Exception as error:  # noqa: BLE001 - such as a module that the scheduler lacks
            return error

    async def _start_cluster(self) -> str:
        """Start a scheduler in this process and workers on this machine; return the scheduler's address."""
        try:
            self._cluster = await LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # a free port: without it, the usual one of every cluster
                memory_limit=0,
                asynchronous=True,
                silence_logs=logging.CRITICAL,
            )
        except (OSError, TimeoutError, RuntimeError) as error:
            raise connection_error(self.name, error) from None
        return str(self._cluster.scheduler_address)

    async def _update_workers(self) -> None:
        """Ask new workers for their versions, and forget those that have left. Raises ExecplanError."""
        info = await self._list_workers()
        new = [address for address in info if address not in self._workers and address not in self._lost]
        answers = await asyncio.gather(*[self._describe_worker(address) for address in new])
        descriptions = {address: answer for address, answer in zip(new, answers, strict=True) if answer is not None}
        check_processes(self.name, descriptions, is_worker=True)
        with self._lock:
            self._threads = {address: max(worker["nthreads"], 1) for address, worker in info.items()}
            workers = {address: worker for address, worker in self._workers.items() if address in info}
            for address, description in descriptions.items():
                workers[address] = Worker(worker_name(description["host"], address), description["token"], address)
            self._workers = workers

    async def _list_workers(self) -> dict[str, Any]:
        """Return what the scheduler knows about its workers, by address."""
        workers: dict[str, Any] = (await self._client.scheduler.identity(n_workers=-1))["workers"]
        return workers

    async def _describe_worker(self, address: str) -> Any:
        """Return the description of a worker, or the exception that it raised; None if it doesn't answer."""
        try:
            if self._address.is_local:
                await self._ask(address, _ANSWER_SECONDS, worker_task.ignore_terminal)
            return await self._ask(address, _ANSWER_SECONDS, worker_task.describe_worker)
        except (OSError, TimeoutError):
            return None
        except Exception as error:  # noqa: BLE001 - such as a module that the worker lacks
            return error

    async def _ask(self, address: str, seconds: float, function: Any, *arguments: Any) -> Any:
        """Return what a function returns in the process of a worker, or raise what it raises."""
        answers = await asyncio.wait_for(self._client.run(function, *arguments, workers=[address]), seconds)
        return answers[address]

    async def _disconnect(self) -> None:
        if self._client is not None:
            try:
                if not self._address.is_local:
                    present = await self._list_workers()  # asking one that is gone takes all of the seconds
                    workers = [worker for worker in self._workers.values() if worker.address in present]
                    await self._copies.remove(workers, _ANSWER_SECONDS)
            finally:
                await self._client.close()
        if self._cluster is not None:
            await self._cluster.close()


def _scheduler_address(address: ExecutorAddress) -> str:
    """Return Dask's address of a scheduler by Dask's settings for TLS. Raises ExecplanError."""
    has_certificates = bool(dask.config.get("distributed.comm.tls.ca-file", None))
    requires_tls = bool(dask.config.get("distributed.comm.require-encryption", None))
    return scheduler_address(address, has_certificates=has_certificates, requires_tls=requires_tls)
