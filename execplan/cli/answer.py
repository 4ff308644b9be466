"""What a verb answers, printed as text or as one JSON document."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from execplan import trace
from execplan.cli.door import document, shown
from execplan.errors import OK


class Call(NamedTuple):
    """How a verb was called."""

    folder: str | None = None
    quiet: bool = False
    verbose: bool = False
    as_json: bool = False


class Answer(NamedTuple):
    """What a verb found or did."""

    data: dict[str, Any]
    text: str
    """For people; printed as it is, with a line end if it lacks one."""
    exit: int = OK
    warnings: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    """Commands that make sense now."""
    wanted: bool = True
    """Whether the text was asked for, so that `--quiet` keeps it."""


def emit(answer: Answer, call: Call, kind: str) -> int:
    """Print an answer; its exit status."""
    answer = answer._replace(warnings=(*trace.warnings, *answer.warnings))
    if call.as_json:
        ok = answer.exit == OK
        print(document(kind, answer.data, ok=ok, warnings=answer.warnings, follow=answer.next))
        return answer.exit
    for warning in answer.warnings:
        print(f"execplan: warning: {shown(warning)}", file=sys.stderr)
    if answer.text and (answer.wanted or not call.quiet):
        sys.stdout.flush()
        text = answer.text if answer.text.endswith(("\n", "\r")) else answer.text + "\n"
        sys.stdout.buffer.write(shown_lines(text).encode("utf-8", "backslashreplace"))
    if not call.quiet and answer.next:
        print(f"next: {shown(answer.next[0])}")
    return answer.exit


def shown_lines(text: str) -> str:
    """Text of many lines as a terminal may show it, of escapes only colours; written elsewhere it stays as it is."""
    if not sys.stdout.isatty():
        return text
    first, *rest = text.split("\x1b")
    return _plain(first) + "".join([("\x1b" if _is_colour(each) else r"\x1b") + _plain(each) for each in rest])


def _plain(text: str) -> str:
    return "".join([char if char.isprintable() or char in "\n\t\r" else repr(char)[1:-1] for char in text])


def _is_colour(behind: str) -> bool:
    """Whether what stands behind an escape makes it one that sets a colour."""
    codes, end, _ = behind.partition("m")
    return bool(end) and codes[:1] == "[" and not codes[1:].strip("0123456789;")


def typed(name: str, path: str = "") -> str:
    """A plan as it can be typed in a shell: its id; its path where the id would be taken for a flag."""
    import shlex

    return shlex.quote(path if path and name.startswith("-") else name)
