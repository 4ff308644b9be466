"""The program called once: in an empty folder, within its limits, with what it is sent on its standard input."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from execplan.agents.enhancer.command import is_inside_repository

if TYPE_CHECKING:
    from execplan.agents.enhancer.command import EnhancerSettings
    from execplan.engine.commands.ended import CommandResult
    from execplan.repo.home import Project

_MEMORY_MB, _PROCESSES, _FILE_MB = 4096, 512, 1024
_MAX_ERROR_CHARS = 200


class CallResult(NamedTuple):
    """How it ended."""

    answer: bytes
    """What it printed; of what is too long the beginning."""
    reason: str
    """Why that is no answer; nothing where it may be one."""
    signal: str
    """The signal that has interrupted execplan meanwhile; nothing for none."""
    seconds: float
    started: bool = True
    """Whether the program ran at all, and so could read what it was sent."""


def call_enhancer(project: Project, command: EnhancerSettings, request: bytes) -> CallResult:
    """Run it to its end; raises ExecplanError where the folder for it can't be made.

    It runs without the sandbox that steps have: it is the user's own program, which has to reach a model over the network and to
    write where it keeps its session. It is not told where the repository is.
    """
    from execplan.engine.commands.launch import Limits, CommandSpec, run_command
    from execplan.engine.commands.stop import StopSignal
    from execplan.engine.commands.transcript import Transcript
    from execplan.engine.opened import make_redaction
    from execplan.engine.signals import SignalHandlers

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
            os.path.join(folder, "transcript.md"), "The enhancer", make_redaction(), command.kilobytes << 10, keep_error_line
        )
        try:
            with SignalHandlers(stop, lambda: None):
                ended = run_command(order, None, transcript, stop)
        finally:
            transcript.close()
    started = ended.cause != "error" or ended.exit is None
    return CallResult(ended.stdout, _failure_reason(ended, command, last_error[0]), stop.signal, ended.seconds, started)


def _environment(project: Project, command: EnhancerSettings) -> dict[str, str]:
    """What it gets: what every command gets, without folders of the repository in which a program could be put."""
    from execplan.engine.commands.environment import build_environment

    env = build_environment({}, command.environment)
    directories = [directory for directory in env["PATH"].split(os.pathsep) if os.path.isabs(directory) and not is_inside_repository(project, directory)]
    env["PATH"] = os.pathsep.join(directories) or os.defpath
    if is_inside_repository(project, env.get("VIRTUAL_ENV", os.sep)):
        del env["VIRTUAL_ENV"]
    return env


def _failure_reason(ended: CommandResult, command: EnhancerSettings, last_error: str) -> str:
    """Why what it printed is no answer, with the last line of its standard error."""
    if ended.cause:
        return ended.reason
    if ended.signal is not None:
        return f"it was ended by signal {ended.signal}"
    if ended.exit:
        return f"exit {ended.exit}" + (f": {last_error.strip()[:_MAX_ERROR_CHARS]}" if last_error.strip() else "")
    if not ended.is_complete:
        return f"its answer is longer than {command.kilobytes} kilobytes"
    return "" if ended.stdout.strip() else "it printed no answer"
