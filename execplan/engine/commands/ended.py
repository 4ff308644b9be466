"""How a command ended, as its supervisor has told and as its marks tell afterwards."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Ended(NamedTuple):
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
    whole: bool
    """Whether `stdout` is all that was printed to it."""
    end: bytes = b""
    """The end of what was printed to both streams, some kilobytes."""


def words_of(ended: Ended) -> str:
    """How a command ended, in a line."""
    how = f"exit {ended.exit}" if ended.exit is not None else f"signal {ended.signal}" if ended.signal else "not run"
    why = f", {ended.cause}: {ended.reason}" if ended.cause else ""
    return f"{how}{why}, after {ended.seconds:.1f} s"


def marked(marks: str) -> str | Ended:
    """How a command of which only the marks are left ended: `never` begun, `begun`, or how; what it printed is not known.

    Raises ExecplanError.
    """
    from execplan.text import disk

    if not os.path.lexists(f"{marks}.ended"):
        return "begun" if os.path.lexists(f"{marks}.begun") else "never"
    data = disk.read(f"{marks}.ended", 1 << 16)[0]
    try:
        told = read(data)
        told.pop("left")
        return Ended(**told, stdout=b"", stdout_sha256="", whole=False)
    except (ValueError, KeyError, TypeError, SyntaxError, AttributeError, RecursionError):
        what = f"{marks}.ended is no mark of a command: somebody else has written there"
        raise ExecplanError(
            "journal-altered", what, exit=ENVIRONMENT, hint="bring it back as it was, or remove it"
        ) from None


def read(data: bytes) -> dict[str, Any]:
    """What a supervisor has told; raises ValueError, SyntaxError for what none tells."""
    from ast import literal_eval

    told: dict[str, Any] = literal_eval(data.decode("ascii"))
    return told
