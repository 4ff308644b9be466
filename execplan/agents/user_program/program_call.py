"""Programs that the user's own settings name, and a single call of one: in an empty directory, within limits."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping
from typing import Final, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.project import setting_shapes as shapes
from execplan.core.project import user_settings
from execplan.core.project.project import Project
from execplan.core.project.setting_shapes import number
from execplan.core.project.setting_table import Setting
from execplan.core.text.pure_paths import is_inside
from execplan.execution.engine.commands.command_result import CommandResult

USER_ONLY: Final = "names code to run and what is sent to it"
"""Why only the user's own settings may name a program."""
_MEMORY_MB, _PROCESSES, _FILE_MB = 4096, 512, 1024
_MAX_ERROR_CHARS = 200
_ERROR_BYTES = 1 << 16
"""Number of bytes kept of a program's errors."""


def limit_settings(seconds: int, kilobytes: int, max_kilobytes: int) -> tuple[Setting, ...]:
    """Return the settings that limit a program of the user, with their defaults."""
    return (
        Setting(
            "seconds",
            number(1, 3600),
            "The time limit; then the program and the processes that it started are terminated.",
            seconds,
            USER_ONLY,
        ),
        Setting("kilobytes", number(1, max_kilobytes), "The maximum size of an answer.", kilobytes, USER_ONLY),
        Setting(
            "environment",
            shapes.variables(quotes=False),
            "Variables that the program gets in addition to the usual ones.",
            [],
            USER_ONLY,
        ),
    )


class UserProgram(NamedTuple):
    """The command, the limits and the environment of a program."""

    argv: tuple[str, ...]
    seconds: int
    """Time limit in seconds; after it, the program and all processes that it started are ended."""
    kilobytes: int
    """Maximum size of its answer in kilobytes."""
    environment: tuple[str, ...] = ()
    """Variables that the program gets in addition to those of every command."""

    @property
    def program(self) -> str:
        """Name of the program, without directories and arguments, which may contain secrets."""
        return os.path.basename(self.argv[0])


def make_program(
    project: Project, table: Mapping[str, object], command: str, setting: str, defaults: tuple[int, int]
) -> UserProgram:
    """Return the program that a command names, with the limits of its table of settings, which are valid.

    `setting` is the command's own name, and `defaults` are the seconds and kilobytes. Raises ExecplanError if the
    command can't be parsed, or if it is in the repository.
    """
    argv = _parse_command(command, setting)
    _ensure_outside_repository(project, argv, setting)
    seconds, kilobytes = table.get("seconds", defaults[0]), table.get("kilobytes", defaults[1])
    names = table.get("environment", [])
    assert isinstance(seconds, int)
    assert isinstance(kilobytes, int)
    assert isinstance(names, list)
    return UserProgram(argv, seconds, kilobytes, tuple(names))


def _parse_command(command: str, setting: str) -> tuple[str, ...]:
    """Split a command as a shell would, and expand `~`; raises ExecplanError if that is impossible."""
    try:
        program, *arguments = shlex.split(command)
    except ValueError as error:
        message = f"{user_settings.path()}: {setting} can't be parsed: {str(error).lower()}"
        hint = f"see the settings: execplan explain {setting.partition('.')[0]}"
        raise ExecplanError("bad-setting", message, hint=hint) from None
    return (os.path.expanduser(program), *[os.path.expanduser(argument) for argument in arguments])


def _ensure_outside_repository(project: Project, argv: tuple[str, ...], setting: str) -> None:
    """Raise ExecplanError if a command names a path in the repository, where any writer could change it."""
    for argument in argv:
        if os.path.isabs(argument) and is_inside_repository(project, argument):
            raise ExecplanError(
                "program-of-repository",
                f"{user_settings.path()}: {setting} uses {argument}, which is in the repository {project.root}",
                hint="use a program outside the repository, which no commit can change",
            )


def is_inside_repository(project: Project, path: str) -> bool:
    """Check whether an absolute path leads into the repository."""
    root = os.path.realpath(project.root)
    return is_inside(os.path.realpath(path), root) or is_inside(os.path.normpath(path), root)


NOT_STARTED: Final = "not_started"
TIMEOUT: Final = "timeout"
LIMIT: Final = "limit"
INTERRUPTED: Final = "interrupted"
EXIT: Final = "exit"
TOO_LONG: Final = "too_long"
EMPTY: Final = "empty"
CALL_FAILURES: Final = (NOT_STARTED, TIMEOUT, LIMIT, INTERRUPTED, EXIT, TOO_LONG, EMPTY)
"""How a call can fail: the program did not start, was stopped (a limit of time or of resources, or a person), ended with a
status other than 0 or by a signal, or printed too much or nothing."""
_STOP_CAUSES: Final = {"error": NOT_STARTED, "timeout": TIMEOUT, "limit": LIMIT, "interrupted": INTERRUPTED}
"""The failure for each cause that ends a command."""


class CallResult(NamedTuple):
    """The output of a call, and how the call ended."""

    answer: bytes
    """Standard output of the program; if it is too long, only the beginning."""
    reason: str
    """Reason why the output is not an answer; empty if it may be one."""
    failure: str
    """One of CALL_FAILURES, if there is a reason."""
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
    from execplan.execution.engine.commands.command_environment import make_redaction
    from execplan.execution.engine.commands.launcher import CommandSpec, Limits, run_command
    from execplan.execution.engine.commands.stop_signal import SignalHandlers, StopSignal

    stop, output = StopSignal(), _ProgramOutput(command.kilobytes << 10)
    with tempfile.TemporaryDirectory(prefix="execplan-", ignore_cleanup_errors=True) as folder:
        work = os.path.join(folder, "work")
        os.mkdir(work)
        limits = Limits(command.seconds, _MEMORY_MB, _PROCESSES, _FILE_MB)
        marks = os.path.join(folder, "marks")
        order = CommandSpec(command.argv, work, _environment(project, command), True, limits, marks, request)
        with SignalHandlers(stop, lambda: None):
            ended = run_command(order, None, output, stop)
    last_error = make_redaction().redact_text(output.last_error)
    started = ended.cause != "error" or ended.exit is None
    failure, reason = _find_failure(ended, command, last_error)
    return CallResult(ended.stdout, reason, failure, stop.signal, ended.seconds, started)


class _ProgramOutput:
    """The output of a program, of which its answer is kept, and the end of its errors."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """Number of bytes of the standard output that are kept."""
        self._errors = b"\n"

    def out(self, data: bytes) -> None:
        """Ignore the standard output, which the result of the command has."""

    def err(self, data: bytes) -> None:
        """Keep the end of the standard error."""
        self._errors = (self._errors + data)[-_ERROR_BYTES:]

    def note(self, message: str) -> None:
        """Ignore a message of execplan, which the result of the command has."""

    @property
    def last_error(self) -> str:
        """The last complete line of the errors, without control characters."""
        lines = self._errors.decode("utf-8", "replace").splitlines()[1:]  # what precedes the first line may be cut off
        line = next((line for line in reversed(lines) if line.strip()), "")
        return "".join([char if char.isprintable() else " " for char in line])


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


def _find_failure(ended: CommandResult, command: UserProgram, last_error: str) -> tuple[str, str]:
    """Return how a call failed, and why, with the last line of standard error; two empty texts if it may have succeeded."""
    if ended.cause:
        return _STOP_CAUSES.get(ended.cause, NOT_STARTED), ended.reason
    if ended.signal is not None:
        return EXIT, f"it was ended by signal {ended.signal}"
    if ended.exit:
        return EXIT, f"exit {ended.exit}" + (f": {last_error.strip()[:_MAX_ERROR_CHARS]}" if last_error.strip() else "")
    if not ended.is_complete:
        return TOO_LONG, f"its answer is longer than {command.kilobytes} kilobytes"
    return ("", "") if ended.stdout.strip() else (EMPTY, "it printed no answer")
