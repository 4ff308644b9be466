"""The parts of a plan in three versions → one text."""

from __future__ import annotations

from execplan.plan import outline
from execplan.plan.grammar import is_note
from execplan.plan.merging import entries
from execplan.plan.merging.sequence import Three, behind, matched, merged, ranked
from execplan.plan.merging.tasks import task
from execplan.plan.merging.units import ENTRY, NOTES, PLACE, SECTION, TASK, Unit, entries_of, parts_of, tasks_of
from execplan.plan.model import Plan
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan.merging.clerk import Clerk
    from execplan.plan.merging.match import Slot

_LOGS = (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES)


class Plans(NamedTuple):
    """The three versions; `base` may be empty."""

    base: Plan
    ours: Plan
    theirs: Plan


def plans(clerk: Clerk, three: Plans) -> list[str]:
    """The lines of the merged plan."""
    parts = Three(*[parts_of(plan) for plan in three])

    def one(slot: Slot) -> list[str] | None:
        sides = _sides(parts, slot)
        gone = _gone(clerk, sides)
        if gone is not None:
            return gone[0]
        base, ours, theirs = sides
        assert ours is not None
        assert theirs is not None
        if theirs.lines == ours.lines or (base is not None and theirs.lines == base.lines):
            return list(ours.lines)
        if base is not None and ours.lines == base.lines:
            return list(theirs.lines)
        return _part(clerk, three, (base, ours, theirs))

    return merged(parts, one, ranked(_rank), matched(parts))


def _part(clerk: Clerk, three: Plans, sides: tuple[Unit | None, Unit, Unit]) -> list[str]:
    """One part that both sides have and changed."""
    base, ours, theirs = sides
    if ours.kind == NOTES or (ours.section is not None and _is_log(ours.section.name, ours.section.title)):
        return _units(clerk, three, sides, entries_of)
    if ours.kind == SECTION and ours.key == outline.PROGRESS:
        return _units(clerk, three, sides, tasks_of)
    trial = clerk.trial()
    lines = trial.prose(base.lines if base else (), ours.lines, theirs.lines)
    if trial.conflicts and ours.kind == SECTION:
        units = [tasks_of(plan, part) for plan, part in zip(three, sides, strict=True) if part is not None]
        boxes = any([unit.task is not None for side in units for unit in side])
        if boxes or ours.key == outline.ARTIFACTS:
            other = clerk.trial()
            found = _units(other, three, sides, tasks_of)
            if other.conflicts < trial.conflicts:
                trial, lines = other, found
    clerk.take(trial)
    return lines


def _is_log(name: str | None, title: str) -> bool:
    return name in _LOGS or is_note(title)


def _units(
    clerk: Clerk, plans: Plans, sides: tuple[Unit | None, Unit, Unit], cut: Callable[[Plan, Unit], list[Unit]]
) -> list[str]:
    """A part whose units are matched one by one."""
    three = Three(*[cut(plan, part) if part is not None else [] for plan, part in zip(plans, sides, strict=True)])
    found = matched(three)
    new = {slot for slot in found if not slot.base}

    def one(slot: Slot) -> list[str] | None:
        base, ours, theirs = _sides(three, slot)
        unit = ours or theirs or base
        assert unit is not None
        if unit.kind == PLACE and _is_filled(three, slot, new):
            return None
        if base is not None and base.task is not None and (ours is None) != (theirs is None):
            if _grew(three, slot, new):
                return clerk.conflict(ours.lines if ours else (), theirs.lines if theirs else ())
        both = [[side[at] for at in places] for side, places in zip(three[1:], slot[1:], strict=True)]
        gone = _gone(clerk, (base, ours, theirs), both)
        if gone is not None:
            return gone[0]
        assert ours is not None
        assert theirs is not None
        if unit.kind == TASK:
            return task(clerk, base, *both)
        if unit.kind == ENTRY:
            return entries.entry(clerk, base, ours, theirs)
        return clerk.prose(base.lines if base else (), ours.lines, theirs.lines)

    if cut is entries_of:
        told = [[side[at[0]] for at in places if at] for side, places in zip(three[1:], _only(new), strict=True)]
        if sides[1].key == outline.DECISIONS:
            entries.report(clerk, *[[unit.entry for unit in side if unit.entry is not None] for side in told])
        return merged(three, one, ranked(entries.date_of, falling=entries.is_falling(three)), found)
    return merged(three, one, behind, found)


def _only(new: set[Slot]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Where what one side alone has added stands in it."""
    alone = sorted([slot for slot in new if not (slot.ours and slot.theirs)])
    return [slot.ours for slot in alone], [slot.theirs for slot in alone]


def _sides(three: Three, slot: Slot) -> tuple[Unit | None, Unit | None, Unit | None]:
    base, ours, theirs = [units[at[0]] if at else None for units, at in zip(three, slot, strict=True)]
    return base, ours, theirs


def _gone(
    clerk: Clerk, sides: tuple[Unit | None, Unit | None, Unit | None], both: list[list[Unit]] | None = None
) -> tuple[list[str] | None] | None:
    """What becomes of a unit that one side does not have: nothing when the other left it alone, a conflict when not."""
    base, ours, theirs = sides
    if ours is not None and theirs is not None:
        return None
    left = [side for side in (both or [[ours] if ours else [], [theirs] if theirs else []]) if side]
    lines = [
        line
        for side in left
        for at, unit in enumerate(side)
        for line in (*unit.lines, *(unit.gap if at + 1 < len(side) else ()))
    ]
    if base is None:
        return (lines,)
    if not left or lines == list(base.lines):
        return (None,)
    return (clerk.conflict(lines if ours else (), lines if theirs else ()),)


def _grew(three: Three, slot: Slot, new: set[Slot]) -> bool:
    """Whether something was added or changed below an item that the other side deleted."""
    side, places = (three.ours, slot.ours) if slot.ours else (three.theirs, slot.theirs)
    added = {each.ours[0] if slot.ours else each.theirs[0] for each in new if (each.ours if slot.ours else each.theirs)}
    at = places[-1] + 1
    while at < len(side) and side[at].depth > side[places[0]].depth:
        if at in added:
            return True
        at += 1
    return False


def _is_filled(three: Three, slot: Slot, new: set[Slot]) -> bool:
    """Whether one side holds a place, and nothing else, for what the other has added."""
    if slot.base or (slot.ours and slot.theirs):
        return False
    holds, fills = (three.ours, 2) if slot.ours else (three.theirs, 1)
    if any([unit.kind in (TASK, ENTRY) for unit in holds]):
        return False
    return any([each[fills] and three[fills][each[fills][0]].kind in (TASK, ENTRY) for each in new])


def _rank(part: Unit) -> int | None:
    """Where the twelve sections stand in their order; revision notes come last."""
    if part.kind == NOTES:
        return len(outline.NAMES)
    return outline.NAMES.index(part.key) if part.kind == SECTION and part.key in outline.NAMES else None
