"""The result of a command, from its supervisor's report or later from its marker files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import Any


class CommandResult(NamedTuple):
    """The result of a command that ended or could not start."""

    exit: int | None
    """Exit status of the command; None if a signal ended it."""
    signal: int | None
    cause: str
    """Why the command did not end on its own: timeout, limit or interrupted; error if it could not be started."""
    reason: str
    seconds: float
    cpu_s: float
    """CPU seconds of all its processes that were waited for."""
    peak_memory_bytes: int
    """Peak memory of all its processes together as observed, and at least that of the largest one.

    Never less than the memory needed to start the command, some 10 MB.
    """
    stdout: bytes
    stdout_sha256: str
    """SHA-256 of the complete standard output."""
    is_complete: bool
    """Whether `stdout` is the complete standard output."""
    output_tail: bytes = b""
    """End of the output of both streams, some kilobytes."""


def not_run(cause: str, reason: str, *, is_complete: bool = True) -> CommandResult:
    """Return the result of a command that did not start, or whose end is unknown, so that its output is not complete."""
    return CommandResult(None, None, cause, reason, 0.0, 0.0, 0, b"", "", is_complete)


def format_result(result: CommandResult) -> str:
    """Describe the result of a command in one line."""
    if result.exit is not None:
        exit_text = f"exit {result.exit}"
    elif result.signal:
        exit_text = f"signal {result.signal}"
    else:
        exit_text = "not run"
    why = f", {result.cause}: {result.reason}" if result.cause else ""
    return f"{exit_text}{why}, after {result.seconds:.1f} s"


def read_marks(marks_path: str) -> str | CommandResult:
    """Return the result of a command from its marker files: `never` begun, `begun`, or its result without output.

    Raises ExecplanError.
    """
    from execplan.core.files import file_access

    data = file_access.read_if_exists(f"{marks_path}.ended", 1 << 16)
    if not data:  # an empty marker was lost when the machine stopped
        return "begun" if data is not None or os.path.lexists(f"{marks_path}.begun") else "never"
    try:
        report = parse_report(data)
        report.pop("left")
        return CommandResult(**report, stdout=b"", stdout_sha256="", is_complete=False)
    except (ValueError, KeyError, TypeError, SyntaxError, AttributeError, RecursionError):
        message = f"{marks_path}.ended is not a command marker: another program has changed it"
        raise ExecplanError("journal-altered", message, hint="restore it, or remove it") from None


def parse_report(data: bytes) -> dict[str, Any]:
    """Parse a supervisor's report. Raises ValueError, SyntaxError if it is not one."""
    from ast import literal_eval

    report: dict[str, Any] = literal_eval(data.decode("ascii"))
    return report
