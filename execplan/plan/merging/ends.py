"""Lines of a merge with their ends: ours keep theirs, and what is new ends as its neighbour does."""

from __future__ import annotations

from execplan.text.align import align_sequences
from execplan.text.lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def restore_line_ends(lines: Sequence[str], base: Text | None, ours: Text, theirs: Text) -> Text:
    """The merged lines as a text: line ends, final newline and byte order mark of the side that changed them, else ours."""
    base_text = base if base is not None else theirs  # so that ours decide
    bom = theirs.bom if ours.bom == base_text.bom else ours.bom
    uniform_ends = [_uniform_end(text) for text in (base_text, ours, theirs)]
    if None not in uniform_ends:
        ends = [(uniform_ends[2] if uniform_ends[1] in (uniform_ends[0], "") else uniform_ends[1]) or "\n"] * len(lines)
    else:
        ends = _mixed_ends(lines, base_text, ours, theirs)
    has_final_end = [not text.ends or bool(text.ends[-1]) for text in (base_text, ours, theirs)]
    if ends and not (has_final_end[2] if has_final_end[1] == has_final_end[0] else has_final_end[1]):
        ends[-1] = ""
    for index in range(1, len(ends)):
        if ends[index] == "\n" and not lines[index] and ends[index - 1] == "\r":
            ends[index] = "\r"  # side by side the two would be one CRLF, and the empty line gone
    return Text(list(lines), ends, bom=bom)


def _uniform_end(text: Text) -> str | None:
    """The one end that all lines have, nothing for a text without any, None where they differ."""
    line_ends = set(text.ends) - {""}
    return None if len(line_ends) > 1 else line_ends.pop() if line_ends else ""


def _mixed_ends(lines: Sequence[str], base: Text, ours: Text, theirs: Text) -> list[str]:
    """The end of each line where a version has several kinds."""
    in_base, in_ours, in_theirs = [dict(align_sequences(lines, text.lines)) for text in (base, ours, theirs)]
    ends: list[str] = []
    for index in range(len(lines)):
        our_end = ours.ends[in_ours[index]] if index in in_ours else ""
        their_end = theirs.ends[in_theirs[index]] if index in in_theirs else ""
        base_end = base.ends[in_base[index]] if index in in_base else ""
        if our_end:
            ends.append(their_end if their_end and base_end == our_end else our_end)
            continue
        end_above = theirs.ends[in_theirs[index - 1]] if index - 1 in in_theirs else ""
        neighbor_end = ends[-1] if ends else next((end for end in ours.ends if end), "\n")
        ends.append(their_end if their_end and end_above in ("", neighbor_end) else neighbor_end)
    return ends
