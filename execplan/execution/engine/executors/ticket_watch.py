"""The life of a ticket on a Dask worker: its task, its lease, and how the loss of the worker is noticed."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from execplan.core import trace
from execplan.execution.engine.executors import worker_task
from execplan.execution.engine.executors.executor import Finished

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future
    from typing import Any, Final

    from execplan.execution.engine.executors.executor import Worker

RENEWAL_SECONDS: Final = 5.0
"""Seconds between two renewals of a lease."""
ANSWER_SECONDS: Final = 10.0
"""Seconds to wait for an answer to a renewal."""
LOST_AFTER: Final = worker_task.LEASE_SECONDS + 15.0
"""Seconds without an answer after which a worker is lost. By then, it has stopped the command unless it can't."""
STOP_SECONDS: Final = 20.0
"""Seconds to wait for the result of a command that was to be stopped."""
_SCHEDULER_LOST: Final = "the connection to the scheduler was lost"


class DaskSubmission:
    """A ticket on a worker of a cluster."""

    def __init__(
        self,
        start: Callable[[Coroutine[Any, Any, Any]], Future[Any]],
        watch: Callable[[asyncio.Event], Coroutine[Any, Any, Finished]],
    ) -> None:
        """Submit a ticket with `watch`, in the thread in which `start` runs coroutines."""
        self._start = start
        self._cancelled = asyncio.Event()
        self._future: Future[Finished] = start(watch(self._cancelled))

    def wait(self, seconds: float) -> Finished | None:
        """Return how the ticket ended, or None if it has not ended in this time."""
        try:
            return self._future.result(seconds)
        except TimeoutError:
            return None

    def cancel(self) -> None:
        """Ask the worker to stop the command."""

        async def set_cancelled() -> None:
            self._cancelled.set()

        self._start(set_cancelled())


async def watch_ticket(client: Any, worker: Worker, ticket_id: str, data: bytes, cancelled: asyncio.Event) -> Finished:
    """Run a ticket on its worker and return how it ended; `client` is the asynchronous client of the cluster."""
    future = client.submit(
        worker_task.run_ticket,
        data,
        key=f"execplan-{ticket_id}",
        workers=[worker.address],
        allow_other_workers=False,
        pure=False,
        retries=0,
    )
    result = asyncio.ensure_future(_result_of(future))
    lease = asyncio.ensure_future(_keep_lease(client, worker, ticket_id))
    cancel = asyncio.ensure_future(cancelled.wait())
    try:
        await asyncio.wait({result, lease, cancel}, return_when=asyncio.FIRST_COMPLETED)
        if cancel.done() and not result.done():
            await _stop(client, worker, ticket_id)
            await asyncio.wait({result, lease}, timeout=STOP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            return result.result()
        return Finished(lost=lease.result() if lease.done() else "it did not stop the command in time")
    finally:
        for task in (result, lease, cancel):
            task.cancel()
        await asyncio.gather(result, lease, cancel, return_exceptions=True)
        if not future.done():
            await asyncio.wait({asyncio.ensure_future(future.cancel())}, timeout=1)
        future.release()


async def _result_of(future: Any) -> Finished:
    """Return the result of a task, or why there is none."""
    try:
        data = await future.result()
    except asyncio.CancelledError as error:
        if not future.cancelled():
            raise  # this coroutine is cancelled, not the task
        return Finished(lost=_first_line(error) or _SCHEDULER_LOST)
    except Exception as error:  # noqa: BLE001 - whatever a worker raises, it returned no result
        return Finished(lost=_first_line(error))
    return Finished(data) if isinstance(data, bytes) else Finished(lost="it returned something else than bytes")


async def _keep_lease(client: Any, worker: Worker, ticket_id: str) -> str:
    """Renew the lease of a ticket until the worker is lost; return why it is."""
    answered_at = monotonic()
    while monotonic() - answered_at < LOST_AFTER:
        await asyncio.sleep(RENEWAL_SECONDS)
        try:
            renewal = client.run(worker_task.renew_lease, ticket_id, workers=[worker.address])
            tokens = await asyncio.wait_for(renewal, ANSWER_SECONDS)
        except Exception as error:  # noqa: BLE001 - a renewal that fails says nothing about the ticket; silence does
            trace.log(f"{worker.name} did not answer: {error!r}")
            continue
        if tokens.get(worker.address) not in (None, worker.token):
            return "its process was replaced by another one"
        answered_at = monotonic() if tokens else answered_at
    return f"it has not answered for {LOST_AFTER:g} s"


async def _stop(client: Any, worker: Worker, ticket_id: str) -> None:
    try:
        await asyncio.wait_for(client.run(worker_task.stop_ticket, ticket_id, workers=[worker.address]), ANSWER_SECONDS)
    except Exception as error:  # noqa: BLE001 - the worker stops it all the same when the lease ends
        trace.log(f"{worker.name} did not answer: {error!r}")


def _first_line(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return "its process ended"
    if getattr(error, "reason", "") == "scheduler-connection-lost":
        return _SCHEDULER_LOST
    return (str(error).splitlines() or [type(error).__name__])[0]
