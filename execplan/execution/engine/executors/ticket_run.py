"""Run of a ticket's command in a copy of the workspace, and the collection of its outputs."""

from __future__ import annotations

import os
import shutil
from collections import deque
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.execution.approvals.program_resolution import find_program
from execplan.execution.engine.commands.command_environment import machine_environment
from execplan.execution.engine.commands.command_result import CommandResult, not_run
from execplan.execution.engine.commands.command_sandbox import find_sandbox
from execplan.execution.engine.commands.command_spec import CommandSpec, Limits
from execplan.execution.engine.commands.launcher import run_command
from execplan.execution.engine.commands.stream_redactor import WINDOW
from execplan.execution.engine.executors.ticket import MAX_BYTES, TicketResult, pack_result
from execplan.execution.engine.executors.worker_workspace import copy_workspace, workspace_project, write_ticket_files
from execplan.execution.engine.workspace.file_archive import FileArchive, entries_below
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.policy import Policy

if TYPE_CHECKING:
    from execplan.execution.engine.commands.stop_signal import StopSignal
    from execplan.execution.engine.executors.ticket import Ticket


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
