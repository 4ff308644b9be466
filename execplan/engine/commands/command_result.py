"""How a command ended, as its supervisor has told and as its marks tell afterwards."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class CommandResult(NamedTuple):
    """How a command ended."""

    exit: int | None
    """None where a signal ended it."""
    signal: int | None
    cause: str
    """Why it did not end by itself: timeout, limit or interrupted; error where it could not be started."""
    reason: str
    seconds: float
    cpu_s: float
    """Of all its processes that were waited for."""
    peak_memory_bytes: int
    """The most that all its processes held at once, as far as that was seen, and at least what the largest did; never
    less than what starting it takes, some 10 MB."""
    stdout: bytes
    stdout_sha256: str
    """Of all of it."""
    is_complete: bool
    """Whether `stdout` is all that was printed to it."""
    output_tail: bytes = b""
    """The end of what was printed to both streams, some kilobytes."""


def format_result(result: CommandResult) -> str:
    """How a command ended, in a line."""
    exit_text = (
        f"exit {result.exit}" if result.exit is not None else f"signal {result.signal}" if result.signal else "not run"
    )
    why = f", {result.cause}: {result.reason}" if result.cause else ""
    return f"{exit_text}{why}, after {result.seconds:.1f} s"


def read_marks(marks_path: str) -> str | CommandResult:
    """How a command of which only the marks are left ended: `never` begun, `begun`, or how; what it printed is not known.

    Raises ExecplanError.
    """
    from execplan.files import file_access

    if not os.path.lexists(f"{marks_path}.ended"):
        return "begun" if os.path.lexists(f"{marks_path}.begun") else "never"
    data = file_access.read(f"{marks_path}.ended", 1 << 16)[0]
    try:
        report = parse_report(data)
        report.pop("left")
        return CommandResult(**report, stdout=b"", stdout_sha256="", is_complete=False)
    except (ValueError, KeyError, TypeError, SyntaxError, AttributeError, RecursionError):
        message = f"{marks_path}.ended is no mark of a command: somebody else has written there"
        raise ExecplanError(
            "journal-altered", message, exit=ENVIRONMENT, hint="bring it back as it was, or remove it"
        ) from None


def parse_report(data: bytes) -> dict[str, Any]:
    """What a supervisor has told; raises ValueError, SyntaxError for what none tells."""
    from ast import literal_eval

    report: dict[str, Any] = literal_eval(data.decode("ascii"))
    return report
