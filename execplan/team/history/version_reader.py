"""Reading of many versions of a plan, as the tasks, entries and sections that are compared.

Sections that an earlier read version has, too, are not parsed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from execplan.core.plan import outline, reader
from execplan.core.plan.line_grammar import is_revision_note
from execplan.core.plan.merge.merge_units import (
    ENTRY,
    HEADING,
    LOG_SECTIONS,
    MARKER,
    NOTES,
    PLACEHOLDER,
    SECTION,
    TASK,
    MergeUnit,
    split_log,
    split_plan,
    split_section,
)
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import ensure_no_conflicts
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.task_reader import document_section, read_tasks
from execplan.core.text import markdown_blocks
from execplan.core.text.text_lines import Text
from execplan.team.history.history_event import DECISION, DISCOVERY, OUTCOME, REVISION
from execplan.team.history.task_comparison import TaskVersion

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


_SECTION_NAMES = {
    TASK: outline.PROGRESS,
    DISCOVERY: outline.SURPRISES,
    DECISION: outline.DECISIONS,
    OUTCOME: outline.OUTCOMES,
}
"""Section that contains tasks, or entries of a kind; only the first section with this name counts."""
_SECTION_START = "## "
_TITLE_LINE = "# Title"
"""Title above each piece except the first, without which the reader could take its first section for the title."""
_MAX_PIECES = 800
"""Maximum number of pieces in memory: those of the current versions of a hundred plans."""


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

    def entries(self, kind: str) -> list[MergeUnit]:
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


class _Piece:
    """The lines from one heading of a section to the next, parsed on their own."""

    def __init__(self, title: str | None, parts: list[PlanPart]) -> None:
        self.title = title
        self.parts = parts


class VersionReader:
    """Reads versions of plans of a project with these `titles`, and keeps the parsed pieces between the headings of sections."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._titles = titles
        self._pieces: dict[str, _Piece | None] = {}

    def read(self, data: bytes) -> VersionUnits:
        """Parse the bytes of a version. Raises ExecplanError if it can't be read, or contains conflict markers."""
        text = reader.decode(data)
        text.titles = self._titles
        if reader.find_conflict_markers(text.lines):
            ensure_no_conflicts(reader.read_structure(text))
        units = self._read_pieces(text)
        return units if units is not None and units.find_parts(TASK) else read_at_once(text)

    def _read_pieces(self, text: Text) -> VersionUnits | None:
        """Parse a version piece by piece; return None if a piece depends on others."""
        starts = [index for index, line in enumerate(text.lines) if line.startswith(_SECTION_START)]
        if not starts or not starts[0]:
            return None
        title: str | None = None
        parts: list[PlanPart] = []
        for start, end in zip([0, *starts], [*starts, len(text.lines)], strict=True):
            piece = self._find_piece(text.lines[start:end], has_tabs=text.tabs, is_last=end == len(text.lines))
            if piece is None:
                return None
            title = piece.title if not start else title
            parts += piece.parts
        names = [part.name for part in parts if part.name is not None]
        return VersionUnits(title, text.lines, parts) if len(set(names)) == len(names) else None

    def _find_piece(self, lines: list[str], *, has_tabs: bool, is_last: bool) -> _Piece | None:
        """Return a parsed piece, or None if it has no end of its own, or is the first one and has no title."""
        if lines[-1].strip() and not is_last:
            return None
        key = "\n".join(lines)
        if key in self._pieces:
            piece = self._pieces.pop(key)
        else:
            piece = _parse_piece(lines, has_tabs=has_tabs)
            if len(self._pieces) >= _MAX_PIECES:
                del self._pieces[next(iter(self._pieces))]
        self._pieces[key] = piece  # at the end, because the first one is forgotten first
        return piece


def read_at_once(text: Text) -> VersionUnits:
    """Parse a version as a whole. Without Progress, all its parts except logs can have tasks."""
    plan = reader.read_structure(text)
    units = VersionUnits(plan.title, text.lines, [PlanPart(plan, unit) for unit in split_plan(plan)])
    if units.find_parts(TASK):
        return units
    plan = reader.read_text(text)
    parts = [
        PlanPart(plan, part.unit, has_tasks=part.name not in LOG_SECTIONS and not part.has_revisions)
        for part in units.parts
    ]
    return VersionUnits(plan.title, text.lines, parts) if plan.tasks else units


def _parse_piece(lines: Sequence[str], *, has_tabs: bool) -> _Piece | None:
    is_first = not lines[0].startswith(_SECTION_START)
    piece_lines = list(lines) if is_first else [_TITLE_LINE, *lines]
    plan = reader.read_structure(Text(piece_lines, ["\n"] * len(piece_lines), tabs=has_tabs))
    has_title = any([block.kind == markdown_blocks.HEADING and block.level == 1 for block in plan.blocks])
    if not has_title or not all([block.is_closed for block in plan.blocks]):
        return None
    parts = [PlanPart(plan, unit) for unit in split_plan(plan)]
    if is_first:
        return _Piece(plan.title, parts)
    if parts[0].unit.kind != HEADING or len(parts) < 2 or parts[1].unit.start != 1:
        return None
    return _Piece(None, parts[1:])
