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

if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan

_ENTRY_SECTIONS = {DISCOVERY: outline.SURPRISES, DECISION: outline.DECISIONS, OUTCOME: outline.OUTCOMES}


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
    def progress_lines(self) -> tuple[str, ...]:
        """The lines of the Progress section, or nothing if there is none."""
        part = self._find_part(outline.PROGRESS)
        return part.lines if part is not None else ()

    @cached_property
    def tasks(self) -> list[TaskVersion]:
        """The tasks, in file order."""
        part = self._find_part(outline.PROGRESS)
        if part is None:
            return []
        ids = {task.start: task_id for task, task_id in zip(self.plan.tasks, task_ids(self.plan.tasks), strict=True)}
        return [
            TaskVersion(unit, unit.task, ids[unit.task.start])
            for unit in self._split(part)
            if unit.task is not None and unit.task.start in ids
        ]

    def entries(self, kind: str) -> list[Unit]:
        """Return the units of the entries of a kind, in file order."""
        if kind == REVISION:
            parts = [part for part in self.parts if self._has_revisions(part)]
        else:
            part = self._find_part(_ENTRY_SECTIONS[kind])
            parts = [part] if part is not None else []
        return [unit for part in parts for unit in self._split(part) if unit.kind == ENTRY]

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
            is_progress = part.kind == SECTION and part.section is not None and part.section.name == outline.PROGRESS
            self._units[part.start] = (split_section if is_progress else split_log)(self.plan, part)
        return self._units[part.start]
