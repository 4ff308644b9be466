"""Units of a merge: the parts of a plan, and the tasks, entries and blocks of a section."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.entry_reader import read_entries, read_revision_notes
from execplan.core.plan.plan_change import has_no_content
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.text.markdown_blocks import CODE, FENCE, HTML, ITEM, QUOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.core.plan.model import Entry, ParsedPlan, Section, Task

TASK: Final = "task"
ENTRY: Final = "entry"
TEXT: Final = "text"
PLACEHOLDER: Final = "place"
"""Kind of a unit that contains only placeholder text."""
HEADING: Final = "head"
"""Kind of a section's heading, and of the text before the first section or below another title."""
MARKER: Final = "marker"
SECTION: Final = "section"
NOTES: Final = "notes"

LOG_SECTIONS = (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES)


class MergeUnit(NamedTuple):
    """Lines that belong together, and the blank lines below them."""

    kind: str
    key: str
    """Text that identifies the unit in another version."""
    lines: tuple[str, ...]
    gap: tuple[str, ...]
    start: int
    """Index of its first line in its plan."""
    section: Section | None = None
    """Section that the part is, whose end contains the notes, or that the heading opens."""
    task: Task | None = None
    entry: Entry | None = None
    depth: int = 0
    """Number of list items that contain the unit."""
    is_item: bool = False
    parent_key: str = ""
    """For a task, the key of the item that contains it, or its sub-heading."""

    @property
    def end(self) -> int:
        """Return the index one past its last line, without the gap."""
        return self.start + len(self.lines)


def join_unit_lines(units: Sequence[MergeUnit]) -> list[str]:
    """Return the lines of one or several units, with the gaps between them."""
    lines: list[str] = []
    for index, unit in enumerate(units):
        lines += [*unit.lines, *(unit.gap if index + 1 < len(units) else ())]
    return lines


def split_plan(plan: ParsedPlan) -> list[MergeUnit]:
    """Split a plan into text outside sections, the sections, and the revision notes at their ends, in file order."""
    lines = plan.text.lines
    boundaries: list[tuple[int, str, str, Section | None]] = [(0, HEADING, "", None)]
    line_index = len(lines)
    for section in plan.sections:
        if line_index < section.start:
            boundaries.append((line_index, HEADING, lines[line_index].strip(), None))
        boundaries.append((section.start, SECTION, section.name or outline.title_key(section.title), section))
        if section.notes_start < section.end:
            boundaries.append((section.notes_start, NOTES, "", section))
        line_index = section.end
    if line_index < len(lines):
        boundaries.append((line_index, HEADING, lines[line_index].strip(), None))
    ends = [boundary[0] for boundary in boundaries[1:]] + [len(lines)]
    return [
        _make_unit(plan, kind, key, start, end)._replace(section=section)
        for (start, kind, key, section), end in zip(boundaries, ends, strict=True)
    ]


def split_section(plan: ParsedPlan, plan_part: MergeUnit) -> list[MergeUnit]:
    """Split a section into its heading, tasks, other items at any depth, and the blocks between them."""
    section = plan_part.section
    assert section is not None
    tasks: dict[int, Task] = {}
    for boxes in (plan.tasks, [box for _, box in plan.checklists]):
        first = bisect_left(boxes, section.start, key=lambda box: box.start)
        last = bisect_left(boxes, section.end, first, key=lambda box: box.start)
        tasks |= {box.start: box for box in boxes[first:last] if box.status is None or box.start == box.box_line}
    rows = [task.start for task in tasks.values() if task.status is not None and task.status.form == "cell"]
    starts: dict[int, tuple[int, bool]] = dict.fromkeys(rows, (0, True))
    quote_end = -1
    for block in plan.blocks[section.first_block : section.block_end]:
        if not block.depth or (block.kind == ITEM and block.start >= quote_end):
            starts.setdefault(block.start, (block.depth, block.kind == ITEM))
        if block.kind == QUOTE:
            quote_end = max(quote_end, block.end)
    units = [_heading_unit(plan, plan_part, starts)]
    ancestors: list[MergeUnit] = []
    for start, end in _unit_spans(plan, plan_part, starts):
        depth, is_item = starts.get(start, (0, False))
        task = tasks.get(start)
        ancestors = [ancestor for ancestor in ancestors if ancestor.depth < depth]
        if task is None:
            unit = _block_unit(plan, start, end)._replace(depth=depth, is_item=is_item)
        else:
            parent_key = ancestors[-1].key if ancestors else normalize_text(task.heading)
            unit = _make_unit(plan, TASK, normalize_text(task.text), start, end)
            unit = unit._replace(task=task, depth=depth, is_item=True, parent_key=parent_key)
        ancestors.append(unit)
        units.append(unit)
    return units


def split_log(plan: ParsedPlan, plan_part: MergeUnit) -> list[MergeUnit]:
    """Split a log into its heading, its entries, and the blocks between them."""
    section = plan_part.section
    assert section is not None
    lines = plan.text.lines
    if plan.conflict_lines:
        lines = list(lines)
        for index in plan.conflict_lines:
            lines[index] = ""
    read = read_entries if plan_part.kind == SECTION and section.name in LOG_SECTIONS else read_revision_notes
    entries = {log_entry.start: log_entry for log_entry in read(lines, plan.blocks, section, plan.placeholder_lines)}
    starts: dict[int, tuple[int, bool]] = {}
    entry_end = plan_part.start
    for block in plan.blocks[section.first_block : section.block_end]:
        if block.start in entries:
            entry_end = max(entry_end, entries[block.start].end)
        elif block.depth or block.start < entry_end:
            continue
        starts.setdefault(block.start, (block.depth, block.kind == ITEM))
    units = [_heading_unit(plan, plan_part, starts)] if plan_part.kind == SECTION else []
    for start, end in _unit_spans(plan, plan_part, starts):
        entry = entries.get(start)
        is_item = starts.get(start, (0, False))[1]
        if entry is None:
            units.append(_block_unit(plan, start, end)._replace(is_item=is_item))
        else:
            support = (entry.rationale or "", entry.evidence or "", entry.supersedes or "")
            key = "\n".join([normalize_text(text) for text in (entry.text, *support)])
            units.append(_make_unit(plan, ENTRY, key, start, end)._replace(entry=entry, is_item=is_item))
    return units


def _unit_spans(plan: ParsedPlan, plan_part: MergeUnit, starts: dict[int, tuple[int, bool]]) -> list[tuple[int, int]]:
    """Return the line ranges of the units below the heading; a conflict marker outside code starts a unit."""
    marker_lines = {index for index in plan.conflict_lines if _body_start(plan_part) <= index < plan_part.end}
    if marker_lines and plan_part.section is not None:
        for block in plan.blocks[plan_part.section.first_block : plan_part.section.block_end]:
            if block.kind in (FENCE, CODE, HTML):
                marker_lines.difference_update(range(block.start, block.end))
    boundaries = sorted(
        [index for index in {*starts, *marker_lines} if _body_start(plan_part) <= index < plan_part.end]
    )
    return list(pairwise([*boundaries, plan_part.end]))


def _heading_unit(plan: ParsedPlan, plan_part: MergeUnit, starts: dict[int, tuple[int, bool]]) -> MergeUnit:
    first_line = min(
        [index for index in (*starts, *plan.conflict_lines) if _body_start(plan_part) <= index], default=plan_part.end
    )
    return _make_unit(plan, HEADING, "", plan_part.start, min(first_line, plan_part.end))._replace(
        section=plan_part.section
    )


def _body_start(plan_part: MergeUnit) -> int:
    if plan_part.kind == SECTION and plan_part.section is not None:
        return plan_part.section.body_start
    return plan_part.start


def _block_unit(plan: ParsedPlan, start: int, end: int) -> MergeUnit:
    unit = _make_unit(plan, TEXT, "", start, end)
    kind = MARKER if _is_marker(plan, start) else TEXT
    if kind == TEXT and all([has_no_content(line) for line in unit.lines if line.strip()]):
        kind = PLACEHOLDER
    return unit._replace(kind=kind, key=normalize_text(" ".join(unit.lines)))


def _is_marker(plan: ParsedPlan, line: int) -> bool:
    index = bisect_left(plan.conflict_lines, line)
    return index < len(plan.conflict_lines) and plan.conflict_lines[index] == line


def _make_unit(plan: ParsedPlan, kind: str, key: str, start: int, end: int) -> MergeUnit:
    lines = plan.text.lines[start:end]
    size = len(lines)
    while size and not lines[size - 1].strip():
        size -= 1
    return MergeUnit(kind, key, tuple(lines[:size]), tuple(lines[size:]), start)
