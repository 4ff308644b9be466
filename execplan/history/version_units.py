"""The parts of one version of a plan that are compared with those of another: sections, tasks and entries."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from execplan.history.history_event import DECISION, DISCOVERY, OUTCOME, REVISION
from execplan.history.task_comparison import TaskVersion
from execplan.plan import outline
from execplan.plan.line_grammar import is_revision_note
from execplan.plan.merge.merge_units import (
    ENTRY,
    HEADING,
    LOG_SECTIONS,
    MARKER,
    NOTES,
    PLACEHOLDER,
    SECTION,
    TASK,
    Unit,
    split_log,
    split_plan,
    split_section,
)
from execplan.plan.plan_lookup import task_ids
from execplan.plan.reader import read_tasks

if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan

_SECTION_NAMES = {
    TASK: outline.PROGRESS,
    DISCOVERY: outline.SURPRISES,
    DECISION: outline.DECISIONS,
    OUTCOME: outline.OUTCOMES,
}
"""Section that contains tasks, or entries of a kind."""


class VersionUnits:
    """A parsed plan, split into parts and these into tasks, entries and the text between them, each at first use."""

    def __init__(self, plan: ParsedPlan) -> None:
        self.plan = plan
        self._units: dict[int, list[Unit]] = {}

    @cached_property
    def parts(self) -> list[Unit]:
        """The sections, the revision notes at their ends, and the text outside sections, in file order."""
        return split_plan(self.plan)

    @cached_property
    def tasks(self) -> list[TaskVersion]:
        """The tasks, in file order."""
        units = [unit for part in self.find_parts(TASK) for unit in self._split(part)]
        tasks = [(unit, unit.task) for unit in units if unit.task is not None]
        ids = task_ids([task for _, task in tasks])
        return [TaskVersion(unit, task, task_id) for (unit, task), task_id in zip(tasks, ids, strict=True)]

    def entries(self, kind: str) -> list[Unit]:
        """Return the units of the entries of a kind, in file order."""
        return [unit for part in self.find_parts(kind) for unit in self._split(part) if unit.kind == ENTRY]

    def find_parts(self, kind: str) -> list[Unit]:
        """Return the parts that may contain tasks (for the kind `TASK`) or entries of a kind."""
        if kind == REVISION:
            return [part for part in self.parts if self._has_revisions(part)]
        part = self._find_part(_SECTION_NAMES[kind])
        return [part] if part is not None else []

    def has_same_parts(self, other: VersionUnits, kind: str) -> bool:
        """Return whether another version has the same lines in the parts with tasks or with entries of a kind."""
        return [part.lines for part in self.find_parts(kind)] == [part.lines for part in other.find_parts(kind)]

    def is_progress(self, part: Unit) -> bool:
        """Return whether a part is the section with the plan's tasks."""
        return part is self._find_part(outline.PROGRESS)

    def has_units(self, part: Unit) -> bool:
        """Return whether a part contains tasks or entries with events of their own."""
        section = part.section
        if section is None or part.kind != SECTION:
            return False
        return self._has_revisions(part) or (
            section.name in (outline.PROGRESS, *LOG_SECTIONS) and part is self._find_part(section.name)
        )

    def other_lines(self, part: Unit) -> list[str]:
        """Return the lines of a part outside the texts of its tasks and entries, without placeholders and the title."""
        if not self.has_units(part):
            return self.text_lines(part)
        kinds = (TASK, ENTRY, PLACEHOLDER, MARKER)
        return [line for unit in self._split(part) if unit.kind not in kinds for line in unit.lines]

    def count_text_lines(self, part: Unit) -> int:
        """Return the number of lines of a part without its heading, tasks and entries."""
        heading = part.section.body_start - part.section.start if part.section is not None else 0
        return max(len([line for line in self.other_lines(part) if line.strip()]) - heading, 0)

    def text_lines(self, part: Unit) -> list[str]:
        """Return the lines of a part that are not blank, without the plan's title."""
        title_line = self.plan.title_line - part.start if part.kind == HEADING else -1
        return [line for index, line in enumerate(part.lines) if line.strip() and index != title_line]

    def _find_part(self, name: str) -> Unit | None:
        """Return the first section with a standard name."""
        return next(
            (
                part
                for part in self.parts
                if part.kind == SECTION and part.section is not None and part.section.name == name
            ),
            None,
        )

    def _has_revisions(self, part: Unit) -> bool:
        if part.section is None:
            return False
        return part.kind == NOTES or (part.kind == SECTION and is_revision_note(part.section.title))

    def _split(self, part: Unit) -> list[Unit]:
        if part.start not in self._units:
            if part.section is not None and part.section.name == outline.PROGRESS and part.kind == SECTION:
                tasks = read_tasks(self.plan.text.lines, self.plan.blocks, part.section)
                self._units[part.start] = split_section(self.plan._replace(tasks=tasks), part)
            else:
                self._units[part.start] = split_log(self.plan, part)
        return self._units[part.start]
