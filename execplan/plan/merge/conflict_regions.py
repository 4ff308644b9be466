"""Texts that hold conflict markers: taken apart into their sides, or freed of them."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.named_tuple import NamedTuple
from execplan.plan.reader import find_conflict_markers, parse_conflict_marker
from execplan.text.text_lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class ConflictSides(NamedTuple):
    """What a text with markers was made of."""

    base: bytes | None
    """Only when every conflict shows it."""
    ours: bytes
    theirs: bytes
    labels: tuple[str, str]
    """What the first conflict calls its sides; empty where it does not."""
    conflict_count: int


def split_conflicts(data: bytes) -> ConflictSides:
    """The versions that a text with conflict markers came from; raises ExecplanError where these don't nest."""
    from execplan.plan.reader import decode

    text = decode(data)
    regions = find_conflict_regions(text.lines)
    covered = {index for region in regions for index in range(region.start, region.end + 1)}
    stray_markers = [index for index in find_conflict_markers(text.lines) if index not in covered]
    if stray_markers:
        raise _bad_marker_error(text.lines, stray_markers[0], "belongs to no conflict")
    sides = [_side_bytes(text, regions, side_index) for side_index in range(3)]
    labels = ("", "")
    if regions:
        first_region = regions[0]
        labels = (_marker_label(text.lines[first_region.start]), _marker_label(text.lines[first_region.end]))
    base = sides[0] if all([region.base >= 0 for region in regions]) and regions else None
    return ConflictSides(base, sides[1], sides[2], labels, len(regions))


def remove_conflicts(text: Text) -> Text:
    """A base without its conflicts: what stood there before them where they show it, else nothing.

    A merge base that git made of several holds conflicts; what is in them neither side has taken from a common version.
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
    """Where the markers of a conflict stand; `base` is -1 where it does not show the base."""

    start: int
    base: int
    middle: int
    end: int


def find_conflict_regions(lines: Sequence[str]) -> list[ConflictRegion]:
    """The conflicts of a text, without those inside them, which have longer markers; raises ExecplanError."""
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
            raise _bad_marker_error(lines, index, f"does not fit the conflict that begins in line {start + 1}")
    if size:
        raise _bad_marker_error(lines, start, "begins a conflict that never ends")
    return regions


def _side_bytes(text: Text, regions: Sequence[ConflictRegion], side_index: int) -> bytes:
    """The text with the base (0), ours (1) or theirs (2) in the place of each conflict."""
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
        exit=INPUT,
        hint="resolve that conflict by hand, then try again",
        line=index + 1,
    )
