"""The parts of a plan in three versions → one text."""

from __future__ import annotations

from execplan.plan import outline
from execplan.plan.grammar import is_note
from execplan.plan.merging.match import slots
from execplan.plan.merging.pieces import Pieces
from execplan.plan.merging.sequence import Three, merged, ranked
from execplan.plan.merging.units import LOGS, NOTES, SECTION, Unit, entries_of, parts_of, tasks_of
from execplan.plan.model import Plan
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.merging.clerk import Clerk
    from execplan.plan.merging.match import Slot


class Plans(NamedTuple):
    """The three versions; `base` may be empty."""

    base: Plan
    ours: Plan
    theirs: Plan


def plans(clerk: Clerk, three: Plans) -> list[str]:
    """The lines of the merged plan."""
    parts = Three(*[parts_of(plan) for plan in three])

    def one(slot: Slot) -> list[str] | None:
        base, ours, theirs = parts.at(slot)
        if ours is None or theirs is None:
            return clerk.alone(base, [ours] if ours else [], [theirs] if theirs else [])
        if theirs.lines == ours.lines or (base is not None and theirs.lines == base.lines):
            return list(ours.lines)
        if base is not None and ours.lines == base.lines:
            return list(theirs.lines)
        return _part(clerk, three, (base, ours, theirs))

    return merged(parts, one, ranked(_rank), slots(*parts))


def _part(clerk: Clerk, three: Plans, sides: tuple[Unit | None, Unit, Unit]) -> list[str]:
    """One part that both sides have and changed."""
    base, ours, theirs = sides
    section = ours.section
    if section is None:
        return clerk.prose(base.lines if base else (), ours.lines, theirs.lines)
    if ours.kind == NOTES or section.name in LOGS or is_note(section.title):
        return _pieces(clerk, three, sides, log=True)
    if section.name == outline.PROGRESS:
        return _pieces(clerk, three, sides, log=False)
    trial = clerk.trial()
    lines = trial.prose(base.lines if base else (), ours.lines, theirs.lines)
    if trial.conflicts and (section.name == outline.ARTIFACTS or _has_boxes(three.ours, ours)):
        other = clerk.trial()
        found = _pieces(other, three, sides, log=False)
        if other.conflicts < trial.conflicts:
            trial, lines = other, found
    clerk.take(trial)
    return lines


def _pieces(clerk: Clerk, three: Plans, sides: tuple[Unit | None, Unit, Unit], *, log: bool) -> list[str]:
    """A part cut into its units and merged one by one."""
    cut = entries_of if log else tasks_of
    units = [cut(plan, part) if part is not None else [] for plan, part in zip(three, sides, strict=True)]
    return Pieces(clerk, Three(*units), log=log).merged()


def _has_boxes(plan: Plan, part: Unit) -> bool:
    return any([part.start <= task.start < part.end for _, task in plan.checklists])


def _rank(part: Unit) -> int | None:
    """Where the twelve sections stand in their order; revision notes come last."""
    if part.kind == NOTES:
        return len(outline.NAMES)
    return outline.NAMES.index(part.key) if part.kind == SECTION and part.key in outline.NAMES else None
