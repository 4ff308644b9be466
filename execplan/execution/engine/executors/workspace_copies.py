"""Copies of packed workspaces on the workers of a cluster: who has one, who didn't take it, and their removal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from execplan.core import trace
from execplan.execution.engine.executors import worker_task
from execplan.execution.engine.executors.executor import Worker
from execplan.execution.engine.executors.worker_workspace import PackedWorkspace

SEND_SECONDS: Final = 600
"""Seconds to wait until a worker has unpacked a workspace."""


class WorkspaceCopies:
    """The workspaces that workers have unpacked."""

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        """Call functions in the processes of workers with `ask(address, seconds, function, *arguments)`."""
        self._ask = ask
        self._holders: set[tuple[str, str]] = set()
        """IDs of workspaces, each with the token of a worker that has it."""
        self.unusable: set[str] = set()
        """Addresses of workers that did not take a workspace."""

    def has(self, worker: Worker, workspace: PackedWorkspace) -> bool:
        """Return whether a worker has a workspace."""
        return (workspace.id, worker.token) in self._holders

    async def send(self, workspace: PackedWorkspace, workers: Iterable[Worker]) -> None:
        """Send a workspace to the workers that lack it. Those that don't take it are not asked again."""
        lacking = [
            worker for worker in workers if not self.has(worker, workspace) and worker.address not in self.unusable
        ]
        answers = await asyncio.gather(*[self._send_to(worker.address, workspace) for worker in lacking])
        for worker, has_it in zip(lacking, answers, strict=True):
            if has_it:
                self._holders.add((workspace.id, worker.token))
            else:
                self.unusable.add(worker.address)

    async def _send_to(self, address: str, workspace: PackedWorkspace) -> bool:
        """Return whether a worker has unpacked the workspace; it may have left, or may not answer."""
        try:
            problem = await self._ask(
                address, SEND_SECONDS, worker_task.receive_workspace, workspace.id, workspace.data, workspace.digest
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises, the worker doesn't have the workspace
            trace.log(f"{address} did not take the workspace: {error!r}")
            return False
        if problem:
            trace.log(f"{address} did not unpack the workspace: {problem}")
        return not problem

    async def remove(self, workers: Iterable[Worker], seconds: float) -> None:
        """Remove all workspaces from workers; wait at most some seconds for each answer."""
        addresses = {worker.token: worker.address for worker in workers}
        calls = [
            self._ask(addresses[token], seconds, worker_task.remove_workspace, workspace_id)
            for workspace_id, token in self._holders
            if token in addresses
        ]
        await asyncio.gather(*calls, return_exceptions=True)  # a worker that is gone has removed them
