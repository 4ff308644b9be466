"""A single call of a user's program: in an empty directory, within limits, with the request on standard input."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from execplan.agents.user_program.program_settings import is_inside_repository

if TYPE_CHECKING:
    from execplan.agents.user_program.program_settings import UserProgram
    from execplan.core.project.project import Project
    from execplan.execution.engine.commands.command_result import CommandResult


_MEMORY_MB, _PROCESSES, _FILE_MB = 4096, 512, 1024
_MAX_ERROR_CHARS = 200


class CallResult(NamedTuple):
    """The output of a call, and how the call ended."""

    answer: bytes
    """Standard output of the program; if it is too long, only the beginning."""
    reason: str
    """Reason why the output is not an answer; empty if it may be one."""
    signal: str
    """Name of the signal that interrupted execplan during the call; empty if none did."""
    seconds: float
    started: bool = True
    """Whether the program ran at all and could therefore read the request."""


def call_program(project: Project, command: UserProgram, request: bytes) -> CallResult:
    """Run the program until it ends. Raises ExecplanError if its working directory can't be created.

    The program runs without the sandbox for steps: it belongs to the user, must reach a model over the network and must
    write its session data. It does not get the path of the repository.
    """
    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.commands.launcher import CommandSpec, Limits, run_command
    from execplan.execution.engine.commands.stop_signal import StopSignal
    from execplan.execution.engine.journal.journal_writer import make_redaction
    from execplan.execution.engine.signal_handlers import SignalHandlers

    last_error = [""]

    def keep_error_line(text: str, error: bool) -> None:
        last_error[0] = text if error and text.strip() else last_error[0]

    stop = StopSignal()
    with tempfile.TemporaryDirectory(prefix="execplan-", ignore_cleanup_errors=True) as folder:
        work = os.path.join(folder, "work")
        os.mkdir(work)
        limits = Limits(command.seconds, _MEMORY_MB, _PROCESSES, _FILE_MB)
        marks = os.path.join(folder, "marks")
        order = CommandSpec(command.argv, work, _environment(project, command), True, limits, marks, request)
        transcript = Transcript(
            os.path.join(folder, "transcript.md"),
            "The program",
            make_redaction(),
            command.kilobytes << 10,
            keep_error_line,
        )
        try:
            with SignalHandlers(stop, lambda: None):
                ended = run_command(order, None, transcript, stop)
        finally:
            transcript.close()
    started = ended.cause != "error" or ended.exit is None
    return CallResult(ended.stdout, _failure_reason(ended, command, last_error[0]), stop.signal, ended.seconds, started)


def _environment(project: Project, command: UserProgram) -> dict[str, str]:
    """Build the environment of the program: that of every command, without `PATH` directories in the repository.

    Someone could place a program in such a directory. `VIRTUAL_ENV` is removed as well if it is in the repository.
    """
    from execplan.execution.engine.commands.command_environment import build_environment

    env = build_environment({}, command.environment)
    directories = [
        directory
        for directory in env["PATH"].split(os.pathsep)
        if os.path.isabs(directory) and not is_inside_repository(project, directory)
    ]
    env["PATH"] = os.pathsep.join(directories) or os.defpath
    if is_inside_repository(project, env.get("VIRTUAL_ENV", os.sep)):
        del env["VIRTUAL_ENV"]
    return env


def _failure_reason(ended: CommandResult, command: UserProgram, last_error: str) -> str:
    """Return why the output is not an answer, with the last line of standard error; empty if it may be one."""
    if ended.cause:
        return ended.reason
    if ended.signal is not None:
        return f"it was ended by signal {ended.signal}"
    if ended.exit:
        return f"exit {ended.exit}" + (f": {last_error.strip()[:_MAX_ERROR_CHARS]}" if last_error.strip() else "")
    if not ended.is_complete:
        return f"its answer is longer than {command.kilobytes} kilobytes"
    return "" if ended.stdout.strip() else "it printed no answer"
