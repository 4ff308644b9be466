"""What runs in a worker process: each ticket at most once, in its own copy of the workspace, under the supervisor.

The functions without an underscore are called by name from the process of the run; they depend on no cluster library.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

from execplan import __version__
from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import remove_tree
from execplan.execution.engine.commands.stop_signal import StopSignal
from execplan.execution.engine.executors import ticket_run
from execplan.execution.engine.executors.ticket import SCHEMA, unpack_ticket
from execplan.execution.engine.executors.worker_workspace import unpack_workspace

if TYPE_CHECKING:
    from typing import Any, Final

LEASE_SECONDS: Final = 30.0
"""Seconds after which a command is stopped if the run has not renewed the lease of its ticket."""
_CHECK_SECONDS: Final = 0.5
"""Seconds between two checks of a lease."""


class _Lease:
    """The time until which a ticket may run, and the signal that stops its command."""

    def __init__(self) -> None:
        self.stop = StopSignal()
        self.renewed_at = monotonic()
        self.has_ended = threading.Event()

    def watch(self) -> None:
        """Stop the command when the lease ends, until the command has ended."""
        while not self.has_ended.wait(_CHECK_SECONDS):
            if monotonic() - self.renewed_at > LEASE_SECONDS:
                self.stop.set("lease")
                return


_leases: dict[str, _Lease] = {}
"""Lease of each ticket that this process has seen and that has not ended, by ID."""
_begun: set[str] = set()
"""IDs of the tickets that this process has begun to run."""
_folders: list[str] = []
"""The directory for workspaces and tickets, which the worker removes when it ends."""
_lock = threading.Lock()


def describe_worker(dask_worker: Any) -> dict[str, Any]:
    """Describe a worker process; call this before anything else.

    `dask_worker` is the object of this process's worker, of which only the directory for temporary files is used.
    """
    if not _folders:
        _folders.append(os.path.join(os.path.realpath(dask_worker.local_directory), "execplan"))
    return describe_process()


def describe_scheduler(dask_scheduler: Any) -> dict[str, Any]:
    """Describe a scheduler, with the number of workers that a task may lose before it is given up."""
    return {**describe_process(), "allowed_failures": dask_scheduler.allowed_failures}


def describe_process() -> dict[str, Any]:
    """Return the versions that must be the same everywhere, and what is known about this process and its machine."""
    return {
        "execplan": __version__,
        "schema": SCHEMA,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "host": socket.gethostname(),
        "token": _process_token(os.getpid()),
    }


def ignore_terminal() -> None:
    """Ignore the signals of the terminal that a worker shares with the run: they stop the run, which stops the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


async def receive_workspace(workspace_id: str, data: bytes, digest: str) -> str:
    """Unpack a workspace; return why that failed, or an empty string."""
    import asyncio

    try:
        await asyncio.to_thread(unpack_workspace, data, digest, os.path.join(_folders[0], workspace_id))
    except ExecplanError as error:
        return error.message
    except OSError as error:
        return f"{error.filename or 'its directory'}: {os.strerror(error.errno or 0).lower()}"
    return ""


async def remove_workspace(workspace_id: str) -> None:
    """Remove an unpacked workspace."""
    import asyncio

    await asyncio.to_thread(remove_tree, os.path.join(_folders[0], workspace_id), lambda _: None)


def renew_lease(ticket_id: str) -> str:
    """Extend the time of a ticket; return the token of this process."""
    lease = _lease(ticket_id) if ticket_id not in _begun else _leases.get(ticket_id)
    if lease is not None:  # it has ended otherwise, perhaps at this moment in another thread
        lease.renewed_at = monotonic()
    return _process_token(os.getpid())


def stop_ticket(ticket_id: str) -> None:
    """Stop the command of a ticket, or keep it from starting."""
    lease = _lease(ticket_id) if ticket_id not in _begun else _leases.get(ticket_id)
    if lease is not None:
        lease.stop.set("stopped")


def run_ticket(data: bytes) -> bytes:
    """Run a packed ticket and return its packed result.

    Raises RuntimeError if the ticket is for another process or has been run here before.
    """
    ticket, archive = unpack_ticket(data)
    is_ours = ticket.worker == _process_token(os.getpid())
    with _lock:
        if ticket.id in _begun or not is_ours:
            message = f"ticket {ticket.id} can't be run {'twice' if is_ours else 'by another process'}"
            raise RuntimeError(message)
        _begun.add(ticket.id)
        lease = _leases.setdefault(ticket.id, _Lease())
        lease.renewed_at = monotonic()
    folder = os.path.join(_folders[0], ticket.id)
    watcher = threading.Thread(target=lease.watch, daemon=True)
    watcher.start()
    try:
        return ticket_run.run(ticket, archive, os.path.join(_folders[0], ticket.workspace), folder, lease.stop)
    finally:
        lease.has_ended.set()
        watcher.join()
        del _leases[ticket.id]
        remove_tree(folder, lambda _: None)


def _lease(ticket_id: str) -> _Lease:
    with _lock:
        return _leases.setdefault(ticket_id, _Lease())


@cache
def _process_token(pid: int) -> str:
    """Return the token of this process; a forked process has another one."""
    return f"{pid}-{uuid4().hex}"
