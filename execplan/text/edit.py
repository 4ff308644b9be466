"""Lines replaced by lines: the only way in which a text changes."""

from __future__ import annotations

from execplan.record import NamedTuple
from execplan.text.lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Edit(NamedTuple):
    """New lines in place of the lines from `start` to before `end`; an insertion where the two are equal."""

    start: int
    end: int
    lines: tuple[str, ...]
    ends: tuple[str, ...] | None = None
    """How each line ends; None leaves it to the lines around."""


def apply(text: Text, edits: Sequence[Edit]) -> Text:
    """The text with the edits made; raises ValueError when two overlap.

    A new line ends as the line that it replaces did, else as its neighbour does; a missing final newline stays missing.
    """
    lines: list[str] = []
    ends: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda each: each[:3]):
        if edit.start < done or edit.end < edit.start or edit.end > len(text.lines):
            raise ValueError(f"edits overlap or lie outside the text: {edit}")
        lines += text.lines[done : edit.start]
        ends += text.ends[done : edit.start]
        neighbour = _end_near(text, edit.start)
        old = [end or neighbour for end in text.ends[edit.start : edit.end]][: len(edit.lines)]
        lines += edit.lines
        ends += old + [neighbour] * (len(edit.lines) - len(old)) if edit.ends is None else edit.ends
        done = edit.end
    lines += text.lines[done:]
    ends += text.ends[done:]
    last = max(edits, key=lambda each: each.end, default=None)
    said = last.ends if last is not None and last.end == len(text.lines) else None
    closed = bool(said[-1]) if said else not text.ends or bool(text.ends[-1])
    for at in range(len(ends) - 1):
        if not ends[at]:
            ends[at] = _end_near(text, len(text.lines))
    if ends:
        ends[-1] = (ends[-1] or _end_near(text, len(text.lines))) if closed else ""
    for at in range(1, len(ends)):
        if ends[at] == "\n" and not lines[at] and ends[at - 1] == "\r":
            ends[at] = "\r"  # side by side the two would be one CRLF, and the empty line gone
    return Text(lines, ends, bom=text.bom)


def _end_near(text: Text, at: int) -> str:
    """How the line above ends, or the first line around that has an end."""
    for end in (*reversed(text.ends[max(at - 2, 0) : at]), *text.ends[at : at + 1]):
        if end:
            return end
    return "\n"
