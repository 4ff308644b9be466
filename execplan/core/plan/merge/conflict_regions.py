"""Conflict regions in a text with conflict markers: detection, separation into the sides, and removal."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.reader import find_conflict_markers, parse_conflict_marker
from execplan.core.text.text_lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class ConflictSides(NamedTuple):
    """The versions from which a text with conflict markers was made."""

    base: bytes | None
    """Base version; None unless every conflict shows it."""
    ours: bytes
    theirs: bytes
    labels: tuple[str, str]
    """Labels of the two sides in the first conflict; empty if it has none."""
    conflict_count: int


def split_conflicts(data: bytes) -> ConflictSides:
    """Split a text with conflict markers into its versions; raises ExecplanError if the markers do not nest."""
    from execplan.core.plan.reader import decode

    text = decode(data)
    regions = find_conflict_regions(text.lines)
    covered = {index for region in regions for index in range(region.start, region.end + 1)}
    stray_markers = [index for index in find_conflict_markers(text.lines) if index not in covered]
    if stray_markers:
        raise _bad_marker_error(text.lines, stray_markers[0], "does not belong to a conflict")
    sides = [_side_bytes(text, regions, side_index) for side_index in range(3)]
    labels = ("", "")
    if regions:
        first_region = regions[0]
        labels = (_marker_label(text.lines[first_region.start]), _marker_label(text.lines[first_region.end]))
    base = sides[0] if all([region.base >= 0 for region in regions]) and regions else None
    return ConflictSides(base, sides[1], sides[2], labels, len(regions))


def remove_conflicts(text: Text) -> Text:
    """Replace the conflicts in a merge base with the base that they show, or with nothing.

    Git combines several merge bases into one that may have conflicts; neither side took their content from a common
    version.
    """
    try:
        regions = find_conflict_regions(text.lines)
    except ExecplanError:
        return text
    while regions:
        text = Text.from_bytes(_side_bytes(text, regions, 0))
        try:
            regions = find_conflict_regions(text.lines)
        except ExecplanError:
            break
    return text


class ConflictRegion(NamedTuple):
    """The line numbers of a conflict's markers; `base` is -1 if the conflict does not show the base."""

    start: int
    base: int
    middle: int
    end: int


def find_conflict_regions(lines: Sequence[str]) -> list[ConflictRegion]:
    """Find the outermost conflicts of a text; those inside them have longer markers. Raises ExecplanError."""
    regions: list[ConflictRegion] = []
    size = start = 0
    base = middle = -1
    for index, line in enumerate(lines):
        kind, length = parse_conflict_marker(line)
        if not size:
            if kind == "<":
                size, start, base, middle = length, index, -1, -1
        elif length != size:
            continue
        elif kind == "|" and base < 0 and middle < 0:
            base = index
        elif kind == "=" and middle < 0:
            middle = index
        elif kind == ">" and middle >= 0:
            regions.append(ConflictRegion(start, base, middle, index))
            size = 0
        elif kind:
            raise _bad_marker_error(lines, index, f"does not match the conflict that starts on line {start + 1}")
    if size:
        raise _bad_marker_error(lines, start, "starts a conflict that never ends")
    return regions


def _side_bytes(text: Text, regions: Sequence[ConflictRegion], side_index: int) -> bytes:
    """Return the text with each conflict replaced by its base (0), ours (1) or theirs (2)."""
    lines: list[str] = []
    ends: list[str] = []
    index = 0
    for region in regions:
        spans = (
            (region.base + 1, region.middle) if region.base >= 0 else (region.start, region.start),
            (region.start + 1, region.base if region.base >= 0 else region.middle),
            (region.middle + 1, region.end),
        )
        for start, end in ((index, region.start), spans[side_index]):
            lines += text.lines[start:end]
            ends += text.ends[start:end]
        index = region.end + 1
    lines += text.lines[index:]
    ends += text.ends[index:]
    return Text(lines, ends, bom=text.bom).to_bytes()


def _marker_label(line: str) -> str:
    return line.lstrip("<>").strip()


def _bad_marker_error(lines: Sequence[str], index: int, problem: str) -> ExecplanError:
    return ExecplanError(
        "bad-markers",
        f"line {index + 1}: the conflict marker {lines[index][:60]!r} {problem}",
        hint="resolve that conflict by hand, then try again",
        line=index + 1,
    )
