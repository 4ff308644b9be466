"""Three versions of a plan → one."""

from __future__ import annotations

from execplan.plan.merging.checked import lost
from execplan.plan.merging.clerk import Clerk
from execplan.plan.merging.ends import with_ends
from execplan.plan.merging.markers import without
from execplan.plan.merging.sections import Plans, plans
from execplan.plan.reader import decode, read_text
from execplan.plan.seek import fold
from execplan.record import NamedTuple
from execplan.text.diff3 import Marks
from execplan.text.lines import Text

__all__ = ["Lines", "Marks", "Merged", "merge"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.merging.clerk import Lines


class Merged(NamedTuple):
    """What became of the three versions."""

    data: bytes
    conflicts: int
    """How many regions stand between markers."""
    notes: tuple[str, ...]
    """What a person should know of, a line each."""


_MARKS = Marks()


def merge(base: bytes | None, ours: bytes, theirs: bytes, lines: Lines, marks: Marks = _MARKS) -> Merged:
    """The plan that holds what both sides did to the base, or, with no base, what both added under one name.

    `lines` merges lines, each with its end, that belong together. Raises ExecplanError for a version that is no text.
    """
    texts = (decode(base) if base is not None and base.strip() else None, decode(ours), decode(theirs))
    if theirs in (base, ours):
        return Merged(ours, 0, ())
    if ours == base:
        return Merged(theirs, 0, ())
    return merge_texts(*texts, lines, marks)


def merge_texts(base: Text | None, ours: Text, theirs: Text, lines: Lines, marks: Marks = _MARKS) -> Merged:
    """The same of decoded texts, and without a short cut."""
    clerk = Clerk(lines, marks)
    was = without(base) if base is not None else Text([], [])
    three = Plans(read_text(was), read_text(ours), read_text(theirs))
    if base is None and fold(three.ours.title or "") != fold(three.theirs.title or ""):
        clerk.note("two different plans were added under one name: both are kept whole")
        new = clerk.conflict(ours.lines, theirs.lines)
        return Merged(with_ends(new, None, ours, theirs).to_bytes(), clerk.conflicts, clerk.notes)
    new = plans(clerk, three)
    missing = lost(three, read_text(Text(new, ["\n"] * len(new))), conflicts=clerk.conflicts)
    if missing:
        clerk = clerk.trial()
        clerk.note(f"merged line by line: task by task {missing}")
        new = clerk.prose(was.lines, ours.lines, theirs.lines)
    return Merged(with_ends(new, base, ours, theirs).to_bytes(), clerk.conflicts, clerk.notes)
