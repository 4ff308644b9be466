"""A part of a version of a plan: a section, the revision notes at the end of one, or text outside sections."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_revision_note
from execplan.core.plan.merge.merge_units import (
    ENTRY,
    HEADING,
    MARKER,
    NOTES,
    PLACEHOLDER,
    SECTION,
    TASK,
    MergeUnit,
    split_log,
    split_section,
)
from execplan.core.plan.task_reader import document_section, read_tasks

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan

TEXT_BEFORE_SECTIONS = "(text before the sections)"
"""Title in events for the text of a plan that is in no section."""


class PlanPart:
    """A part with its lines; tasks and entries are read at first use, so an unchanged part costs nothing."""

    def __init__(self, plan: ParsedPlan, unit: MergeUnit, *, has_tasks: bool = False) -> None:
        self._plan = plan
        self.unit = unit
        self.has_tasks = has_tasks
        """Whether the part can contain tasks although it is not Progress, because the plan has none."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the part, without blank ones at its end."""
        return self.unit.lines

    @property
    def is_section(self) -> bool:
        """Whether the part is a section."""
        return self.unit.kind == SECTION

    @property
    def name(self) -> str | None:
        """The section's name among the standard sections, or None."""
        return self.unit.section.name if self.is_section and self.unit.section is not None else None

    @property
    def title(self) -> str:
        """The title of the section, or what stands for it."""
        return self.unit.section.title if self.is_section and self.unit.section is not None else TEXT_BEFORE_SECTIONS

    @property
    def has_revisions(self) -> bool:
        """Whether the part consists of revision notes, at the end of a section or in a section of their own."""
        if self.unit.kind == NOTES:
            return True
        return self.is_section and self.unit.section is not None and is_revision_note(self.unit.section.title)

    @cached_property
    def units(self) -> list[MergeUnit]:
        """The heading, the tasks or entries, and the blocks between them."""
        section = self.unit.section
        if self.has_tasks:
            unit = self.unit._replace(section=section or document_section(self._plan))
            return split_section(self._plan._replace(checklists=[]), unit)
        if section is not None and self.name == outline.PROGRESS:
            tasks = read_tasks(self._plan.text.lines, self._plan.blocks, section)
            return split_section(self._plan._replace(tasks=tasks), self.unit)
        return split_log(self._plan, self.unit)

    def text_lines(self, *, has_units: bool) -> list[str]:
        """Return the lines that are not blank, without the plan's title.

        With `has_units`, the texts of tasks and entries, and placeholders, are left out, too.
        """
        if has_units:
            kinds = (TASK, ENTRY, PLACEHOLDER, MARKER)
            lines = [line for unit in self.units if unit.kind not in kinds for line in unit.lines]
        else:
            title_line = self._plan.title_line - self.unit.start if self.unit.kind == HEADING else -1
            lines = [line for index, line in enumerate(self.lines) if index != title_line]
        return [line.rstrip() for line in lines if line.strip()]

    @property
    def heading_size(self) -> int:
        """The number of lines of the section's heading."""
        section = self.unit.section
        return section.body_start - section.start if self.is_section and section is not None else 0
