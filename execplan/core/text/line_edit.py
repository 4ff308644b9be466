"""Line edits, the only way in which this program changes a text."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Edit(NamedTuple):
    """A replacement of the lines from `start` to before `end`; an insertion if the two are equal."""

    start: int
    end: int
    lines: tuple[str, ...]
    ends: tuple[str, ...] | None = None
    """Line end of each new line; None to copy those of the surrounding lines."""


def apply_edits(text: Text, edits: Sequence[Edit]) -> Text:
    """Apply edits to a text; raises ValueError if two overlap.

    A new line gets the end of the line that it replaces, or of its neighbor; a missing final newline stays missing.
    """
    lines: list[str] = []
    ends: list[str] = []
    copied_end = 0
    for edit in sorted(edits, key=lambda edit: edit[:3]):
        if edit.start < copied_end or edit.end < edit.start or edit.end > len(text.lines):
            raise ValueError(f"edits overlap or are outside the text: {edit}")
        lines += text.lines[copied_end : edit.start]
        ends += text.ends[copied_end : edit.start]
        neighbor_end = _nearest_line_end(text, edit.start)
        old_ends = [end or neighbor_end for end in text.ends[edit.start : edit.end]][: len(edit.lines)]
        lines += edit.lines
        ends += old_ends + [neighbor_end] * (len(edit.lines) - len(old_ends)) if edit.ends is None else edit.ends
        copied_end = edit.end
    lines += text.lines[copied_end:]
    ends += text.ends[copied_end:]
    last_edit = max(edits, key=lambda edit: edit.end, default=None)
    new_ends = last_edit.ends if last_edit is not None and last_edit.end == len(text.lines) else None
    has_final_end = bool(new_ends[-1]) if new_ends else not text.ends or bool(text.ends[-1])
    for index in range(len(ends) - 1):
        if not ends[index]:
            ends[index] = _nearest_line_end(text, len(text.lines))
    if ends:
        ends[-1] = (ends[-1] or _nearest_line_end(text, len(text.lines))) if has_final_end else ""
    for index in range(1, len(ends)):
        if ends[index] == "\n" and not lines[index] and ends[index - 1] == "\r":
            ends[index] = "\r"  # CR and LF would join to one CRLF, and the empty line would be lost
    edited_text = Text(lines, ends, bom=text.bom)
    edited_text.titles = text.titles
    return edited_text


def _nearest_line_end(text: Text, index: int) -> str:
    """Return the end of the line above, or of the nearest line that has one."""
    for end in (*reversed(text.ends[max(index - 2, 0) : index]), *text.ends[index : index + 1]):
        if end:
            return end
    return "\n"
