"""What a run needs of an executor: processes elsewhere that run the commands of steps, one ticket each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    from execplan.execution.engine.executors.worker_workspace import PackedWorkspace
else:
    Protocol = object


class Worker(NamedTuple):
    """A process that runs tickets."""

    name: str
    """Name for people and records: its host and address."""
    token: str
    """Random text that only this process has: a process that replaces it has another one."""
    address: str


class Finished(NamedTuple):
    """The end of a ticket."""

    data: bytes = b""
    """The packed result."""
    lost: str = ""
    """Why nothing came back, so that it is unknown whether the command ran; empty with a result."""


class Submission(Protocol):
    """A ticket that a worker has got."""

    def wait(self, seconds: float) -> Finished | None:
        """Return how the ticket ended, or None if it has not ended in this time."""

    def cancel(self) -> None:
        """Ask the worker to stop the command. The ticket still ends: with its result, or lost."""


class Executor(Protocol):
    """Workers that run tickets. It decides nothing: order, approvals, journal and recovery stay with the run."""

    name: str
    """What `--executor` names it, for the journal."""
    slots: int
    """Number of tickets that the workers can run at the same time."""

    def reserve(self, workspace: PackedWorkspace) -> Worker:
        """Choose a worker, and give it the workspace unless it has it. Raises ExecplanError if there is none."""

    def submit(self, worker: Worker, ticket_id: str, data: bytes) -> Submission:
        """Give a packed ticket to a reserved worker."""

    def close(self) -> None:
        """Leave the workers, and end those that were started for this run."""
