"""Lines of a merge with their ends: ours keep theirs, and what is new ends as its neighbour does."""

from __future__ import annotations

from execplan.text.align import aligned
from execplan.text.lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def with_ends(lines: Sequence[str], base: Text | None, ours: Text, theirs: Text) -> Text:
    """The merged lines as a text: line ends, final newline and byte order mark of the side that changed them, else ours."""
    was = base if base is not None else theirs  # so that ours decide
    bom = theirs.bom if ours.bom == was.bom else ours.bom
    kinds = [_kind(text) for text in (was, ours, theirs)]
    if None not in kinds:
        ends = [(kinds[2] if kinds[1] in (kinds[0], "") else kinds[1]) or "\n"] * len(lines)
    else:
        ends = _mixed(lines, was, ours, theirs)
    closed = [not text.ends or bool(text.ends[-1]) for text in (was, ours, theirs)]
    if ends and not (closed[2] if closed[1] == closed[0] else closed[1]):
        ends[-1] = ""
    for at in range(1, len(ends)):
        if ends[at] == "\n" and not lines[at] and ends[at - 1] == "\r":
            ends[at] = "\r"  # side by side the two would be one CRLF, and the empty line gone
    return Text(list(lines), ends, bom=bom)


def _kind(text: Text) -> str | None:
    """The one end that all lines have, nothing for a text without any, None where they differ."""
    kinds = set(text.ends) - {""}
    return None if len(kinds) > 1 else kinds.pop() if kinds else ""


def _mixed(lines: Sequence[str], base: Text, ours: Text, theirs: Text) -> list[str]:
    """The end of each line where a version has several kinds."""
    in_base, in_ours, in_theirs = [dict(aligned(lines, text.lines)) for text in (base, ours, theirs)]
    ends: list[str] = []
    for at in range(len(lines)):
        one = ours.ends[in_ours[at]] if at in in_ours else ""
        two = theirs.ends[in_theirs[at]] if at in in_theirs else ""
        was = base.ends[in_base[at]] if at in in_base else ""
        if one:
            ends.append(two if two and was == one else one)
            continue
        above = theirs.ends[in_theirs[at - 1]] if at - 1 in in_theirs else ""
        near = ends[-1] if ends else next((end for end in ours.ends if end), "\n")
        ends.append(two if two and above in ("", near) else near)
    return ends
