"""The commands that a fence holds: one a line, or behind the prompts of a transcript, with what each prints below it."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PROMPT = "$ "
_CONTINUATION_PROMPT = "> "
"""What a shell prints before a line that goes on."""


class TranscriptCommand(NamedTuple):
    """One command, and what stands below it in a transcript."""

    command: str
    output: str | None = None


def split_commands(body: Sequence[str]) -> tuple[TranscriptCommand, ...]:
    """The commands in their order; blank lines and comments are none, and a backslash at its end lets one go on.

    Where the first of them stands behind a prompt, what has no prompt is what the command above prints.
    """
    entries: list[TranscriptCommand] = []
    output_lines: list[str] = []
    is_transcript = next((line for line in body if not _is_blank_or_comment(line)), "").lstrip().startswith(PROMPT)
    at = 0
    while at < len(body):
        line = body[at].strip(" \t")
        at += 1
        is_prompted = line.startswith(PROMPT)
        if is_transcript and not is_prompted and entries:
            output_lines.append(body[at - 1])
            continue
        line = line.removeprefix(PROMPT).strip(" \t")
        if _is_blank_or_comment(line):
            continue
        command_lines = [line]
        while _is_continued(command_lines[-1]) and at < len(body):
            next_line = body[at].lstrip(" \t").removeprefix(_CONTINUATION_PROMPT) if is_prompted else body[at]
            command_lines.append(next_line.rstrip(" \t"))
            at += 1
        _attach_output(entries, output_lines)
        entries.append(TranscriptCommand(_join_continued_lines(command_lines)))
    _attach_output(entries, output_lines)
    return tuple(entries)


def _attach_output(entries: list[TranscriptCommand], output_lines: list[str]) -> None:
    """Give the last command the lines that stand below it."""
    text = "\n".join(output_lines).strip("\n")
    if text.strip():
        entries[-1] = entries[-1]._replace(output=text)
    output_lines.clear()


def _is_blank_or_comment(line: str) -> bool:
    line = line.strip(" \t")
    return not line or line[0] == "#"


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _join_continued_lines(lines: list[str]) -> str:
    """Lines that go on, each with the one below it; within quotes all stays as it is."""
    joined = [lines[0]]
    quote = ""
    for line in lines[1:]:
        head = joined[-1][:-1]
        quote = _open_quote_after(head, quote)
        if quote:
            joined += ["\n", line]
            continue
        stripped, rest = head.rstrip(" \t"), line.lstrip(" \t")
        joined[-1] = stripped
        joined += [" " if stripped != head or rest != line else "", rest]
    return "".join(joined)


def _open_quote_after(text: str, quote: str) -> str:
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
