"""The guard as a process: one call on standard input, one answer on standard output, and whatever goes wrong is a denial.

Nothing here may let a call through by failing. A program lets it through when a hook ends in any other way than it says; so what
can't be answered in its form ends with exit status 2 and words on standard error, which every program takes for a denial.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final, NoReturn


SECONDS: Final = 20.0
"""After which the guard denies; a program that has waited long enough, 30 seconds, lets the call through."""
BLOCKED: Final = 2
"""The exit status that blocks a call."""
_MOST: Final = 8 << 20
"""Bytes of the longest call."""
_REASON: Final = 500
_USAGE: Final = "execplan guard [PLAN] [--program claude|codex|json] < CALL; execplan guard --help"
_PROGRAMS: Final = {"claude": "claude", "codex": "codex", "json": "neutral"}
_PREPARED: Final = b"execplan guard denied this call: it could not be judged"
_UNHEARD: Final = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
    b'"permissionDecisionReason":"execplan guard denied this call: it could not be judged"}}\n'
)
"""For a program whose standard error was closed."""


def guard(arguments: Sequence[str]) -> int:
    """Answer a call; the exit status, as the program that asks wants it."""
    try:
        _arm()
        return _answered(arguments)
    except BaseException as error:  # noqa: BLE001 - memory, recursion, interruption or a bug: whatever it is, it denies
        return _closed(error)


def _closed(error: BaseException | None = None) -> int:
    """Deny where no answer could be given; nothing in here may fail in a way that lets the call through."""
    try:
        name = type(error).__name__
        about = "" if error is None else f": {error}" if name == "NotUnderstoodError" else f" ({name})"
        os.write(2, _PREPARED + about.encode("utf-8", "backslashreplace")[:_REASON] + b"\n")
    except BaseException:  # noqa: BLE001 - as above
        try:
            os.write(1, _UNHEARD)
        except BaseException:  # noqa: BLE001 - as above
            return BLOCKED
        return 0
    return BLOCKED


def _stopped(number: int, frame: object) -> NoReturn:
    """Deny at once, wherever it is: somebody ends the process."""
    os._exit(_closed())


def _late(number: int, frame: object) -> NoReturn:
    """Deny at once, wherever it is: time is up."""
    os._exit(_closed(TimeoutError()))


def _arm() -> None:
    """Let the time limit and every signal that would end the process deny, and refuse to work without standard streams."""
    if TYPE_CHECKING:
        import signal as signals
    else:
        import _signal as signals  # `signal` loads enum, and that re

    for number in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP, signals.SIGQUIT, signals.SIGXCPU):
        signals.signal(number, _stopped)
    signals.signal(signals.SIGALRM, _late)
    signals.setitimer(signals.ITIMER_REAL, SECONDS)
    for handle in (0, 1, 2):
        os.fstat(handle)  # what is opened in place of one that is closed would be written to


def _answered(arguments: Sequence[str]) -> int:
    named, program, wrong = _options(arguments)
    if wrong or os.isatty(0):
        os.write(2, f"{wrong or 'a call is read from standard input'}: {_USAGE}\n".encode("utf-8", "backslashreplace"))
        return BLOCKED
    from execplan.agents.guard.asking import answer

    out, status, afterwards = answer(_call(), named, program, _REASON)
    while out:
        out = out[os.write(1, out) :]
    afterwards()
    return status


def _options(arguments: Sequence[str]) -> tuple[str | None, str, str]:
    """The plan and the program that are named, and what is wrong with how that is done."""
    named, program, left = None, "", list(arguments)
    while left:
        name, equals, value = left.pop(0).partition("=")
        if name == "--json" and not equals:
            program = _PROGRAMS["json"]
            continue
        if name[:1] != "-" and not equals and named in (None, name):
            named = name
            continue
        if name not in ("-p", "--plan", "--program") or (equals and name == "-p") or not (equals or left):
            return (
                None,
                "",
                f"there is no option {name}" if name[:1] == "-" else f"two plans are named, {named} and {name}",
            )
        value = value if equals else left.pop(0)
        if name != "--program" and named not in (None, value):
            return None, "", f"two plans are named, {named} and {value}"
        if name == "--program" and value not in _PROGRAMS:
            return None, "", f"there is no program {value}"
        named, program = (named, _PROGRAMS[value]) if name == "--program" else (value, program)
    return named, program, ""


def _call() -> bytes:
    """All of standard input, or one byte more than a call may have."""
    parts, size = [], 0
    while size <= _MOST and (part := os.read(0, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts) if size <= _MOST else b""
