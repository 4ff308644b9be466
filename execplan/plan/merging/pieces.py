"""A part of a plan whose tasks, or entries, are matched and merged one by one."""

from __future__ import annotations

from execplan.plan import outline
from execplan.plan.merging import entries
from execplan.plan.merging.match import slots
from execplan.plan.merging.sequence import behind, merged, ranked
from execplan.plan.merging.tasks import task
from execplan.plan.merging.units import ENTRY, PLACE, TASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.merging.clerk import Clerk
    from execplan.plan.merging.match import Slot
    from execplan.plan.merging.sequence import Three
    from execplan.plan.merging.units import Unit
    from execplan.plan.model import Entry


class Pieces:
    """The units of one part in three versions."""

    def __init__(self, clerk: Clerk, three: Three, *, log: bool) -> None:
        self.clerk = clerk
        self.three = three
        self.log = log
        self.found = slots(*three)
        self._new = [slot for slot in self.found if not slot.base]
        self._changed = (set[int](), self._differing(1), self._differing(2))
        self._emptied = [self._gives_way(1), self._gives_way(2)]

    def merged(self) -> list[str]:
        """The lines of the part."""
        if not self.log:
            return merged(self.three, self._one, behind, self.found)
        entries.report(self.clerk, self._decided(1), self._decided(2))
        together = ranked(entries.date_of, falling=entries.is_falling(self.three))
        return merged(self.three, self._one, together, self.found)

    def _one(self, slot: Slot) -> list[str] | None:
        """What became of one unit, None when it is gone."""
        base, ours, theirs = self.three.at(slot)
        if ours is not None and theirs is not None:
            if ours.kind == TASK:
                return task(self.clerk, base, *self._both(slot))
            if ours.kind == ENTRY:
                return entries.entry(self.clerk, base, ours, theirs)
            return self.clerk.prose(base.lines if base else (), ours.lines, theirs.lines)
        unit = ours or theirs
        if unit is not None and base is None and unit.kind == PLACE and self._emptied[0 if ours else 1]:
            return None
        if unit is not None and base is not None and base.task is not None and self._grew(slot):
            return self.clerk.conflict(ours.lines if ours else (), theirs.lines if theirs else ())
        return self.clerk.alone(base, *self._both(slot))

    def _both(self, slot: Slot) -> tuple[list[Unit], list[Unit]]:
        return [self.three.ours[at] for at in slot.ours], [self.three.theirs[at] for at in slot.theirs]

    def _differing(self, side: int) -> set[int]:
        """The units of a side that it added or changed."""
        units = self.three[side]
        return {
            at
            for slot in self.found
            for at in slot[side]
            if not slot.base or units[at].lines != self.three.base[slot.base[0]].lines
        }

    def _grew(self, slot: Slot) -> bool:
        """Whether something was added or changed below an item that the other side deleted."""
        side = 1 if slot.ours else 2
        units, at = self.three[side], slot[side][-1]
        depth = units[at].depth
        at += 1
        while at < len(units) and units[at].depth > depth:
            if at in self._changed[side]:
                return True
            at += 1
        return False

    def _gives_way(self, side: int) -> bool:
        """Whether a side says nothing, and the other has added something, so that a placeholder is not wanted."""
        other = 3 - side
        if any([unit.kind in (TASK, ENTRY) for unit in self.three[side]]):
            return False
        return any([slot[other] and self.three[other][slot[other][0]].kind in (TASK, ENTRY) for slot in self._new])

    def _decided(self, side: int) -> list[Entry]:
        """The decisions that one side alone has added."""
        heads = [unit.section.name for unit in self.three[side][:1] if unit.section is not None]
        if heads != [outline.DECISIONS]:
            return []
        alone = sorted([slot[side][0] for slot in self._new if slot[side] and not slot[3 - side]])
        found = [self.three[side][at].entry for at in alone]
        return [entry for entry in found if entry is not None]
