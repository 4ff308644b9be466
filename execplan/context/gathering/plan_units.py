"""Parts of a plan as units: sections, tasks, decisions and discoveries, without placeholder text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from execplan.context.context_pack import DECISION, DISCOVERY, SECTION, TASK, Unit
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_empty_text
from execplan.core.plan.model import Entry, ParsedPlan, Section, Task
from execplan.core.plan.plan_lookup import find_task, normalize_text, task_ids
from execplan.core.plan.section_roles import SCOPE, STEP_WORDS, find_role, part_number, title_words
from execplan.core.project.slug import slug
from execplan.core.text.markdown_blocks import HEADING
from execplan.core.text.text_lines import digest

FindFiles = Callable[[str], tuple[str, ...]]
"""Function that returns the files that a text names."""

_MAX_UNSPLIT_CHARS = 1500
"""Number of characters from which a section is split at its subheadings."""
_LOG_TYPES = {outline.DECISIONS: DECISION, outline.SURPRISES: DISCOVERY}


class PlanUnits(NamedTuple):
    """A plan that is split into units."""

    units: tuple[Unit, ...]
    """Units in the order of the file."""
    task: str
    """Text of the next task or the requested task; empty if all tasks are done."""
    purpose: str


def split_plan(
    plan: ParsedPlan,
    find_files: FindFiles,
    query: str | None = None,
    pinned_decisions: int = 3,
    claims: Mapping[str, bool] | None = None,
) -> PlanUnits:
    """Split a plan into units and pin its last decisions. Raises ExecplanError if the query matches no task.

    `claims` is, for each claimed task by ID, whether the reader has claimed it: that is the next task, and those of others
    are not.
    """
    builder = _UnitBuilder(plan, find_files)
    task_id_list = task_ids(plan.tasks)
    next_task: Task | None = None
    if query is not None:
        reason, next_task = "requested by name", find_task(plan, query)[1]
    else:
        reason = "the next open task"
        own_by_id, placeholder_lines = claims or {}, frozenset(plan.placeholder_lines)
        open_tasks = [
            (own_by_id.get(task_id), task)
            for task_id, task in zip(task_id_list, plan.tasks, strict=True)
            if task.is_unfinished and task.start not in placeholder_lines
        ]
        own_tasks, free_tasks = [[task for is_own, task in open_tasks if is_own is state] for state in (True, None)]
        next_task = next(iter([*own_tasks, *free_tasks]), None)
    units = [
        *_section_units(plan, builder, next_task),
        *_task_units(plan, builder, task_id_list, next_task, reason),
        *_entry_units(plan, builder, pinned_decisions),
    ]
    units.sort(key=lambda unit: (unit.line_start, unit.line_end))
    purpose = plan.section(outline.PURPOSE)
    purpose_text = builder.text(purpose.body_start, purpose.notes_start) if purpose is not None else ""
    return PlanUnits(_make_ids_unique(units), next_task.text if next_task is not None else "", purpose_text)


class _UnitBuilder:
    """Builder of units from line ranges of a plan."""

    def __init__(self, plan: ParsedPlan, find_files: FindFiles) -> None:
        self._lines = plan.text.lines
        self._placeholder_lines = frozenset(plan.placeholder_lines)
        self._find_files = find_files

    def text(self, start: int, end: int, excluded_lines: frozenset[int] = frozenset()) -> str:
        """Return the text of a line range without placeholder text and without the excluded lines."""
        kept_lines = [
            self._lines[index]
            for index in range(start, end)
            if index not in self._placeholder_lines and index not in excluded_lines
        ]
        return "\n".join(kept_lines).strip("\n").rstrip()

    def unit(
        self, unit_id: str, kind: str, text: str, title: str, start: int, end: int, order: int, reason: str = ""
    ) -> Unit:
        """Build the unit of a line range; the end is exclusive, and surrounding blank lines are not included."""
        while start + 1 < end and not self._lines[start].strip():
            start += 1
        while end > start + 1 and not self._lines[end - 1].strip():
            end -= 1
        return Unit(unit_id, kind, text, title, "", start + 1, end, order, reason, self._find_files(text))


def _find_stage(title: str) -> tuple[str, str] | None:
    """Return the kind and number of a part of the work, such as `Milestone 2: Reader`; None if a title names none."""
    number, words = part_number(title), title_words(title)[:1]
    return (words[0], number) if number and words and words[0] in STEP_WORDS else None


def _section_units(plan: ParsedPlan, builder: _UnitBuilder, next_task: Task | None) -> Iterator[Unit]:
    """Yield units for the text outside of tasks and log entries."""
    stages = [(_find_stage(task.heading) or _find_stage(task.text), task) for task in plan.tasks]
    done_stages = {stage for stage, _ in stages if stage} - {stage for stage, task in stages if task.is_unfinished}
    next_stage = next((stage for stage, task in stages if task is next_task), None)
    excluded_lines = _unit_lines(plan)
    first_section_line = plan.sections[0].start if plan.sections else len(plan.text.lines)
    introduction = builder.text(plan.title_line + 1, first_section_line, excluded_lines)
    if introduction:
        yield builder.unit(
            "section:introduction", SECTION, introduction, "Introduction", plan.title_line + 1, first_section_line, 0
        )
    for section in plan.sections:
        reason = "the plan's purpose" if section.name == outline.PURPOSE else ""
        name = f"section:{slug((section.name or section.title).split(' / ')[0])}"
        text = builder.text(section.body_start, section.notes_start, excluded_lines)
        subsections = [] if reason or len(text) < _MAX_UNSPLIT_CHARS else _split_at_headings(plan, section)
        for title, start, end in subsections or [("", section.body_start, section.notes_start)]:
            text = builder.text(start, end, excluded_lines)
            if not _has_text(text):
                continue
            unit_id = f"{name}/{slug(title)}" if title else name
            unit = builder.unit(
                unit_id, SECTION, text, f"{section.title}: {title}" if title else section.title, start, end, 0, reason
            )
            stage = _find_stage(title)
            if is_empty_text(text):
                omission = "is empty"
            elif stage in done_stages:
                omission = "its tasks are completed"
            else:
                omission = ""
            is_first = (stage is not None and stage == next_stage) or find_role(section.title, {}) == SCOPE
            yield unit._replace(omission="" if reason else omission, comes_first=is_first)
        notes = builder.text(section.notes_start, section.end, excluded_lines)
        if notes:
            yield builder.unit(
                "section:revision-notes", SECTION, notes, "Revision notes", section.notes_start, section.end, 0
            )


def _unit_lines(plan: ParsedPlan) -> frozenset[int]:
    """Return the lines of tasks and log entries, which are units of their own."""
    line_ranges = [(task.start, task.end) for task in plan.tasks]
    line_ranges += [(entry.start, entry.end) for entry in (*plan.decisions, *plan.discoveries)]
    return frozenset([index for start, end in line_ranges for index in range(start, end)])


def _split_at_headings(plan: ParsedPlan, section: Section) -> list[tuple[str, int, int]]:
    """Return the parts of a section between its subheadings, with their titles; empty if it has fewer than two."""
    headings = [
        block
        for block in plan.blocks[section.first_block : section.block_end]
        if block.kind == HEADING and block.level == 3 and not block.depth and block.start < section.notes_start
    ]
    if len(headings) < 2:
        return []
    ends = [*[heading.start for heading in headings[1:]], section.notes_start]
    before_headings = [("", section.body_start, headings[0].start)]
    return before_headings + [(heading.text, heading.start, end) for heading, end in zip(headings, ends, strict=True)]


def _has_text(text: str) -> bool:
    """Return whether a text contains more than headings."""
    return any([line.strip() and not line.startswith("#") for line in text.split("\n")])


def _task_units(
    plan: ParsedPlan, builder: _UnitBuilder, task_id_list: Sequence[str], next_task: Task | None, reason: str
) -> Iterator[Unit]:
    for task_id, task in zip(task_id_list, plan.tasks, strict=True):
        text = builder.text(task.start, task.end)
        if not text:
            continue
        pin_reason = reason if task is next_task else ""
        label = f"{task.number} of {len(plan.tasks)}, {task.state}" + (f", {reason}" if pin_reason else "")
        unit = builder.unit(f"task:{task_id}", TASK, text, label, task.start, task.end, task.number, pin_reason)
        yield unit._replace(omission="" if task.is_unfinished or pin_reason else f"is {task.state_label}")


def _entry_units(plan: ParsedPlan, builder: _UnitBuilder, pinned_count: int) -> Iterator[Unit]:
    for kind, entries in ((DECISION, plan.decisions), (DISCOVERY, plan.discoveries)):
        ordered = _oldest_first(entries)
        last_count = min(pinned_count, len(ordered)) if kind == DECISION else 0
        reason = "the last decision" if last_count == 1 else f"one of the last {last_count} decisions"
        for order, entry in enumerate(ordered, start=1):
            text = builder.text(entry.start, entry.end)
            unit_id = f"{kind}:{digest(normalize_text(entry.text).encode('utf-8', 'replace'))[:8]}"
            label = f"{order} of {len(ordered)}" + (f", {entry.date}" if entry.date else "")
            yield builder.unit(
                unit_id,
                kind,
                text,
                label,
                entry.start,
                entry.end,
                order,
                reason if order > len(ordered) - last_count else "",
            )


def _oldest_first(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries from oldest to newest; some logs have the newest at the top."""
    dates = [entry.date for entry in entries if entry.date]
    is_newest_first = len(dates) > 1 and dates == sorted(dates, reverse=True) and dates[0] > dates[-1]
    return list(reversed(entries)) if is_newest_first else list(entries)


def _make_ids_unique(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the units with unique IDs: the second unit with an ID gets the suffix `-2`, and so on."""
    id_counts: dict[str, int] = {}
    unique_units = []
    for unit in units:
        id_counts[unit.id] = id_counts.get(unit.id, 0) + 1
        unique_units.append(unit if id_counts[unit.id] == 1 else unit._replace(id=f"{unit.id}-{id_counts[unit.id]}"))
    return tuple(unique_units)
