"""The commands that a fence holds: one a line, or behind the prompts of a transcript, with what each prints below it."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PROMPT = "$ "
_MORE = "> "
"""What a shell prints before a line that goes on."""


class Typed(NamedTuple):
    """One command, and what stands below it in a transcript."""

    command: str
    printed: str | None = None


def commands(body: Sequence[str]) -> tuple[Typed, ...]:
    """The commands in their order; blank lines and comments are none, and a backslash at its end lets one go on.

    Where the first of them stands behind a prompt, what has no prompt is what the command above prints.
    """
    found: list[Typed] = []
    printed: list[str] = []
    transcript = next((line for line in body if not _says_nothing(line)), "").lstrip().startswith(PROMPT)
    at = 0
    while at < len(body):
        line = body[at].strip(" \t")
        at += 1
        prompted = line.startswith(PROMPT)
        if transcript and not prompted and found:
            printed.append(body[at - 1])
            continue
        line = line.removeprefix(PROMPT).strip(" \t")
        if _says_nothing(line):
            continue
        parts = [line]
        while _goes_on(parts[-1]) and at < len(body):
            more = body[at].lstrip(" \t").removeprefix(_MORE) if prompted else body[at]
            parts.append(more.rstrip(" \t"))
            at += 1
        _close(found, printed)
        found.append(Typed(_joined(parts)))
    _close(found, printed)
    return tuple(found)


def _close(found: list[Typed], printed: list[str]) -> None:
    """Give the last command the lines that stand below it."""
    text = "\n".join(printed).strip("\n")
    if text.strip():
        found[-1] = found[-1]._replace(printed=text)
    printed.clear()


def _says_nothing(line: str) -> bool:
    line = line.strip(" \t")
    return not line or line[0] == "#"


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _joined(parts: list[str]) -> str:
    """Lines that go on, each with the one below it; within quotes all stays as it is."""
    joined = [parts[0]]
    quote = ""
    for line in parts[1:]:
        head = joined[-1][:-1]
        quote = _quote_behind(head, quote)
        if quote:
            joined += ["\n", line]
            continue
        bare, rest = head.rstrip(" \t"), line.lstrip(" \t")
        joined[-1] = bare
        joined += [" " if bare != head or rest != line else "", rest]
    return "".join(joined)


def _quote_behind(text: str, quote: str) -> str:
    """The quote that is open at the end of a text, or nothing; one may be open at its beginning."""
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        at += 1
    return quote
