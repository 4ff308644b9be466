"""The plan index in a Markdown file: generated lines between two markers; the text around them belongs to its authors."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.markdown_blocks import CODE, FENCE, scan_blocks
from execplan.core.text.text_lines import Edit, Text, apply_edits, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

BEGIN_PREFIX: Final = "<!-- execplan:index:begin"
_BEGIN_MARKER: Final = f"{BEGIN_PREFIX} (written by execplan index; your own text goes above or below) -->"
_END_MARKER: Final = "<!-- execplan:index:end -->"
NO_PLANS: Final = "There are no open plans."
"""Line of an index without rows."""
_TITLE: Final = "# Plans"
"""Title of a file that is created for the index."""


class IndexBlock(NamedTuple):
    """The lines of an index in a file, with both markers; the first counts from 0, the end is exclusive."""

    start: int
    end: int


def may_have_index(data: bytes) -> bool:
    """Return whether a file may contain an index, also one without a marker, so that most files need not be parsed."""
    return BEGIN_PREFIX.encode() in data or _END_MARKER.encode() in data


def find_index_block(text: Text, display_path: str) -> IndexBlock | None:
    """Return the index in a file, or None; markers in code blocks are examples.

    Raises ExecplanError if the markers don't match.
    """
    begins, ends = _marker_lines(text)
    if not begins and not ends:
        return None
    for is_wrong, line, problem in (
        (not begins, ends[:1], "a plan index ends here without a beginning"),
        (not ends, begins[:1], "the plan index that begins here has no end"),
        (len(begins) > 1, begins[1:2], "a second plan index begins here"),
        (len(ends) > 1, ends[1:2], "a second plan index ends here"),
        (bool(begins and ends) and begins[0] > ends[0], ends[:1], "a plan index ends here before it begins"),
    ):
        if is_wrong:
            raise ExecplanError(
                "damaged-block",
                f"{display_path}:{line[0] + 1}: {problem}",
                hint="keep one line with execplan:index:begin and one with execplan:index:end, in this order, or neither",
                line=line[0] + 1,
            )
    return IndexBlock(begins[0], ends[0] + 1)


def _marker_lines(text: Text) -> tuple[list[int], list[int]]:
    """Return the lines with the markers that begin and end an index."""
    begins = [at for at, line in enumerate(text.lines) if line.strip().startswith(BEGIN_PREFIX)]
    ends = [at for at, line in enumerate(text.lines) if line.strip() == _END_MARKER]
    if not begins and not ends:
        return begins, ends
    code_lines = {
        at
        for block in scan_blocks(text.lines, has_tabs=text.tabs)
        if block.kind in (FENCE, CODE)
        for at in range(block.start, block.end)
    }
    return [at for at in begins if at not in code_lines], [at for at in ends if at not in code_lines]


def index_edits(text: Text, block: IndexBlock | None, lines: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits that put the lines into the index, or that add an index at the end of a file without one."""
    if block is not None:
        if text.lines[block.start + 1 : block.end - 1] == list(lines):
            return ()
        return (Edit(block.start + 1, block.end - 1, tuple(lines)),)
    end = len(text.lines)
    head = [_TITLE, ""] if not any([not is_blank(line) for line in text.lines]) else []
    blank = [""] if not head and text.lines and not is_blank(text.lines[-1]) else []
    return (Edit(end, end, (*head, *blank, _BEGIN_MARKER, *lines, _END_MARKER)),)


def replace_index(text: Text, block: IndexBlock | None, lines: Sequence[str]) -> Text:
    """Return a text with the lines as its index; every other line stays as it is."""
    return apply_edits(text, index_edits(text, block, lines))
