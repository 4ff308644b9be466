"""Texts that hold conflict markers: taken apart into their sides, or freed of them."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.plan.reader import conflicts_in, marker
from execplan.record import NamedTuple
from execplan.text.lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Sides(NamedTuple):
    """What a text with markers was made of."""

    base: bytes | None
    """Only when every conflict shows it."""
    ours: bytes
    theirs: bytes
    labels: tuple[str, str]
    """What the first conflict calls its sides; empty where it does not."""
    conflicts: int


def split(data: bytes) -> Sides:
    """The versions that a text with conflict markers came from; raises ExecplanError where these don't nest."""
    from execplan.plan.reader import decode

    text = decode(data)
    regions = regions_in(text.lines)
    covered = {at for region in regions for at in range(region.start, region.end + 1)}
    stray = [at for at in conflicts_in(text.lines) if at not in covered]
    if stray:
        raise _bad(text.lines, stray[0], "belongs to no conflict")
    sides = [_side(text, regions, which) for which in range(3)]
    labels = ("", "")
    if regions:
        first = regions[0]
        labels = (_label(text.lines[first.start]), _label(text.lines[first.end]))
    base = sides[0] if all([region.base >= 0 for region in regions]) and regions else None
    return Sides(base, sides[1], sides[2], labels, len(regions))


def without(text: Text) -> Text:
    """A base without its conflicts: what stood there before them where they show it, else nothing.

    A merge base that git made of several holds conflicts; what is in them neither side has taken from a common version.
    """
    try:
        regions = regions_in(text.lines)
    except ExecplanError:
        return text
    while regions:
        text = Text.from_bytes(_side(text, regions, 0))
        try:
            regions = regions_in(text.lines)
        except ExecplanError:
            break
    return text


class Region(NamedTuple):
    """Where the markers of a conflict stand; `base` is -1 where it does not show the base."""

    start: int
    base: int
    middle: int
    end: int


def regions_in(lines: Sequence[str]) -> list[Region]:
    """The conflicts of a text, without those inside them, which have longer markers; raises ExecplanError."""
    found: list[Region] = []
    size = start = 0
    base = middle = -1
    for at, line in enumerate(lines):
        kind, length = marker(line)
        if not size:
            if kind == "<":
                size, start, base, middle = length, at, -1, -1
        elif length != size:
            continue
        elif kind == "|" and base < 0 and middle < 0:
            base = at
        elif kind == "=" and middle < 0:
            middle = at
        elif kind == ">" and middle >= 0:
            found.append(Region(start, base, middle, at))
            size = 0
        elif kind:
            raise _bad(lines, at, f"does not fit the conflict that begins in line {start + 1}")
    if size:
        raise _bad(lines, start, "begins a conflict that never ends")
    return found


def _side(text: Text, regions: Sequence[Region], which: int) -> bytes:
    """The text with the base (0), ours (1) or theirs (2) in the place of each conflict."""
    lines: list[str] = []
    ends: list[str] = []
    at = 0
    for region in regions:
        spans = (
            (region.base + 1, region.middle) if region.base >= 0 else (region.start, region.start),
            (region.start + 1, region.base if region.base >= 0 else region.middle),
            (region.middle + 1, region.end),
        )
        for start, end in ((at, region.start), spans[which]):
            lines += text.lines[start:end]
            ends += text.ends[start:end]
        at = region.end + 1
    lines += text.lines[at:]
    ends += text.ends[at:]
    return Text(lines, ends, bom=text.bom).to_bytes()


def _label(line: str) -> str:
    return line.lstrip("<>").strip()


def _bad(lines: Sequence[str], at: int, what: str) -> ExecplanError:
    return ExecplanError(
        "bad-markers",
        f"line {at + 1}: the conflict marker {lines[at][:60]!r} {what}",
        exit=INPUT,
        hint="resolve that conflict by hand, then try again",
        line=at + 1,
    )
