"""What runs in a worker process: each ticket at most once, in its own copy of the workspace, under the supervisor.

The functions without an underscore are called by name from the process of the run; they depend on no cluster library.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import threading
from collections import deque
from functools import cache
from time import monotonic
from typing import Any, Final
from uuid import uuid4

from execplan import __version__
from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import remove_tree
from execplan.execution.approvals.program_resolution import find_program
from execplan.execution.engine.commands.command_environment import machine_environment
from execplan.execution.engine.commands.command_result import CommandResult, not_run
from execplan.execution.engine.commands.command_sandbox import find_sandbox
from execplan.execution.engine.commands.command_spec import CommandSpec, Limits
from execplan.execution.engine.commands.launcher import run_command
from execplan.execution.engine.commands.stop_signal import StopSignal
from execplan.execution.engine.commands.stream_redactor import WINDOW
from execplan.execution.engine.executors.ticket import (
    MAX_BYTES,
    SCHEMA,
    Ticket,
    TicketResult,
    pack_result,
    unpack_ticket,
)
from execplan.execution.engine.executors.worker_workspace import (
    copy_workspace,
    unpack_workspace,
    workspace_project,
    write_ticket_files,
)
from execplan.execution.engine.workspace.file_archive import FileArchive, entries_below
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.policy import Policy


def run(ticket: Ticket, archive: FileArchive, workspace_folder: str, folder: str, stop: StopSignal) -> bytes:
    """Run a ticket in the new directory `folder`, and return its packed result."""
    root = os.path.join(folder, ticket.name)
    output = _Output(ticket.output_kb << 10)
    sandbox_name = ""
    try:
        copy_workspace(workspace_folder, root)
        project = workspace_project(root)
        workspace = WorkspaceFiles(project)
        write_ticket_files(ticket, archive, workspace)
        sandbox = find_sandbox(project, Policy(sandbox=ticket.sandbox))[0]
        sandbox_name = sandbox.name if sandbox is not None else ""
        problem = _program_problem(ticket, root)
        if problem or stop.is_set():
            ended = not_run("error" if problem else "interrupted", problem or "it was stopped before it began")
            return pack_result(ticket.id, output.result(ended, sandbox_name), [], workspace.read)
        limits = Limits(ticket.seconds, ticket.memory_mb, ticket.processes, ticket.file_mb)
        env = machine_environment() | ticket.env
        spec = CommandSpec(
            ticket.argv, os.path.join(root, ticket.cwd), env, ticket.network, limits, os.path.join(folder, "marks")
        )
        ended, has_outputs = run_command(spec, sandbox, output, stop), True
        entries = [entry for path in ticket.outputs for entry in entries_below(workspace, path)]
        size = sum([os.lstat(os.path.join(root, entry["path"])).st_size for entry in entries if "sha256" in entry])
        if size > MAX_BYTES:
            reason = f"its outputs are larger than {MAX_BYTES >> 20} MB together"
            ended, entries, has_outputs = ended._replace(cause="limit", reason=reason), [], False
        result = output.result(ended, sandbox_name, has_outputs=has_outputs)
        return pack_result(ticket.id, result, entries, workspace.read)
    except (ExecplanError, OSError, shutil.Error) as error:
        reason = error.message if isinstance(error, ExecplanError) else str(error)
        return pack_result(ticket.id, output.result(not_run("error", reason), sandbox_name), [], _no_content)


def _program_problem(ticket: Ticket, root: str) -> str:
    """Describe the first program that is another one here than was approved, or return an empty string."""
    path = ticket.env.get("PATH", "")
    for name, approved in ticket.programs.items():
        own = find_program(root, name, ticket.cwd, path, "").path
        if own != approved:
            return f"it would run another {name} than approved: {own or 'none'} on the worker, not {approved}"
    return ""


def _no_content(path: str) -> bytes:
    raise KeyError(path)


class _Output:
    """The output of a command, for a transcript that is written where the run is.

    Of a long output, the middle is left out. What remains is longer than what the transcript keeps, so that the place
    of the cut, where a secret may be split, is never part of it.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._head_room = limit // 2 + WINDOW
        self._tail_room = limit - limit // 2 + 3 * WINDOW
        self._head: list[tuple[int, bytes]] = []
        self._tail: deque[tuple[int, bytes]] = deque()
        self._tail_size = self._left_out = 0
        self._notes: list[str] = []

    def out(self, data: bytes) -> None:
        """Append data of the standard output."""
        self._append(0, data)

    def err(self, data: bytes) -> None:
        """Append data of the standard error."""
        self._append(1, data)

    def note(self, message: str) -> None:
        """Append a message of execplan."""
        self._notes.append(message)

    def result(self, ended: CommandResult, sandbox: str, *, has_outputs: bool = False) -> TicketResult:
        """Return the result of the command with this output."""
        output, files = [*self._head, *self._tail], FileArchive({}, [], {}, {})
        return TicketResult(ended, sandbox, output, self._left_out, self._notes, has_outputs, files)

    def _append(self, kind: int, data: bytes) -> None:
        head, data = data[: self._head_room], data[self._head_room :]
        self._head_room -= len(head)
        self._head += [(kind, head)] if head else []
        if not data:
            return
        self._tail.append((kind, data))
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0][1]) >= self._tail_room:
            removed = len(self._tail.popleft()[1])
            self._tail_size -= removed
            self._left_out += removed


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
        return run(ticket, archive, os.path.join(_folders[0], ticket.workspace), folder, lease.stop)
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
