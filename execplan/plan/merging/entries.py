"""Entries of a log in three versions → one, and what two sides decided against each other."""

from __future__ import annotations

from execplan.clock import read_stamp
from execplan.plan.logs import newest_first
from execplan.plan.merging.clerk import named
from execplan.plan.merging.match import likeness, words_in
from execplan.plan.seek import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.merging.clerk import Clerk
    from execplan.plan.merging.sequence import Three
    from execplan.plan.merging.units import Unit
    from execplan.plan.model import Entry

_AGAINST = frozenset(
    "not no never don t dont won cannot can without avoid drop remove reject disable forbid exclude skip stop".split()
)
_FOR = frozenset("do use adopt keep add enable allow include will always with we the a an it to".split())
_SAME = 0.8
_MOST = 100
"""New decisions of a side that are compared with those of the other."""


def entry(clerk: Clerk, base: Unit | None, ours: Unit, theirs: Unit) -> list[str]:
    """The lines of an entry that both sides have."""
    one, two = ours.lines, theirs.lines
    if base is None:
        return list(min(ours, theirs, key=_first).lines)
    was = base.lines
    if one == two or _folded(two) == _folded(was):
        return list(one if one != was else two)
    if _folded(one) == _folded(was):
        return list(two)
    if _folded(one) == _folded(two):
        return list(min(one, two))
    return clerk.conflict(one, two)


def date_of(unit: Unit) -> str | None:
    """The date of an entry with its time, so that it can be compared."""
    date = unit.entry.date if unit.entry is not None else None
    return date.replace("T", " ")[:16] if date else None


def is_falling(three: Three) -> bool:
    """Whether the log has the newest first, in any version."""
    return any([newest_first([unit.entry for unit in side if unit.entry is not None]) for side in three])


def report(clerk: Clerk, ours: Sequence[Entry], theirs: Sequence[Entry]) -> None:
    """Note new decisions of the two sides that speak against each other, or that supersede the same one."""
    here, there = [[_Said(each) for each in side] for side in (ours[:_MOST], theirs[:_MOST])]
    for one in here:
        for two in there:
            both = f"{named(one.entry.text)} and {named(two.entry.text)}"
            if one.old and one.old == two.old:
                clerk.note(f"{both} both supersede {named(one.entry.supersedes or '')}: both are kept")
            elif one.against != two.against and one.words and likeness(one.words, two.words) >= _SAME:
                clerk.note(f"{both} were decided against each other: both are kept")


class _Said:
    """A decision as it is compared: what it is about, whether it says yes or no to it, and what it supersedes."""

    def __init__(self, entry: Entry) -> None:
        words = words_in(entry.text)
        self.entry = entry
        self.old = _undated(fold(entry.supersedes or ""))
        self.against = len(_AGAINST.intersection(words)) % 2
        self.words = frozenset(words) - _AGAINST - _FOR


def _undated(words: str) -> str:
    """What a decision supersedes without its date, which one of two may leave out."""
    head, bracket, tail = words.rpartition(" (")
    return head if bracket and tail.endswith(")") and read_stamp(tail[:-1]) is not None else words


def _folded(lines: Sequence[str]) -> str:
    return fold(" ".join(lines))


def _first(unit: Unit) -> tuple[str, tuple[str, ...]]:
    """Of two equal entries the one that was written first, for a choice that does not depend on the side."""
    return (date_of(unit) or "9999", unit.lines)
