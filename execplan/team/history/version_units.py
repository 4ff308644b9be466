"""A version of a plan as the tasks, entries and sections that are compared with those of another version."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from execplan.core.plan import outline
from execplan.core.plan.merge.merge_units import ENTRY, TASK, Unit
from execplan.core.plan.plan_lookup import task_ids
from execplan.team.history.history_event import DECISION, DISCOVERY, OUTCOME, REVISION
from execplan.team.history.task_comparison import TaskVersion

if TYPE_CHECKING:
    from execplan.team.history.plan_part import PlanPart

_SECTION_NAMES = {
    TASK: outline.PROGRESS,
    DISCOVERY: outline.SURPRISES,
    DECISION: outline.DECISIONS,
    OUTCOME: outline.OUTCOMES,
}
"""Section that contains tasks, or entries of a kind; only the first section with this name counts."""


class VersionUnits:
    """A version of a plan with its title, lines and parts."""

    def __init__(self, title: str | None, lines: list[str], parts: list[PlanPart]) -> None:
        self.title = title
        self.lines = lines
        self.parts = parts
        """The sections, the revision notes at their ends, and the text outside sections, in file order."""

    @cached_property
    def tasks(self) -> list[TaskVersion]:
        """The tasks, in file order."""
        units = [unit for part in self.find_parts(TASK) for unit in part.units]
        tasks = [(unit, unit.task) for unit in units if unit.task is not None]
        ids = task_ids([task for _, task in tasks])
        return [TaskVersion(unit, task, task_id) for (unit, task), task_id in zip(tasks, ids, strict=True)]

    def entries(self, kind: str) -> list[Unit]:
        """Return the units of the entries of a kind, in file order."""
        return [unit for part in self.find_parts(kind) for unit in part.units if unit.kind == ENTRY]

    def find_parts(self, kind: str) -> list[PlanPart]:
        """Return the parts that may contain tasks (for the kind `TASK`) or entries of a kind."""
        if kind == REVISION:
            return [part for part in self.parts if part.has_revisions]
        part = self._parts_by_name.get(_SECTION_NAMES[kind])
        if kind == TASK and part is None:
            return [part for part in self.parts if part.has_tasks]
        return [part] if part is not None else []

    def has_same_parts(self, other: VersionUnits, kind: str) -> bool:
        """Return whether another version has the same lines in the parts with tasks or with entries of a kind."""
        parts, other_parts = self.find_parts(kind), other.find_parts(kind)
        return parts == other_parts or [part.lines for part in parts] == [part.lines for part in other_parts]

    def tasks_in(self, part: PlanPart) -> list[TaskVersion]:
        """Return the tasks in a part."""
        if part.has_tasks:
            return [task for task in self.tasks if part.unit.start <= task.unit.start < part.unit.end]
        return self.tasks if part is self._parts_by_name.get(outline.PROGRESS) else []

    def has_units(self, part: PlanPart) -> bool:
        """Return whether a section contains tasks or entries with events of their own."""
        return (
            part.has_revisions
            or part.has_tasks
            or (part.name in _SECTION_NAMES.values() and part is self._parts_by_name.get(part.name))
        )

    @cached_property
    def _parts_by_name(self) -> dict[str | None, PlanPart]:
        """The first section with each standard name."""
        return {part.name: part for part in reversed(self.parts) if part.name is not None}
