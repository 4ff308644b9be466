"""The pieces of a plan that are matched as wholes: parts of the plan, and tasks, entries and blocks of a section."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from execplan.plan import outline
from execplan.plan.change import holds_place
from execplan.plan.entries import read_entries, read_notes
from execplan.plan.seek import fold
from execplan.record import NamedTuple
from execplan.text.blocks import CODE, FENCE, HTML, ITEM, QUOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.plan.model import Entry, Plan, Section, Task

TASK: Final = "task"
ENTRY: Final = "entry"
TEXT: Final = "text"
PLACE: Final = "place"
"""What only holds the place of entries that are to come."""
HEAD: Final = "head"
"""The heading of a section; what stands above the first one, or below another title."""
MARKER: Final = "marker"
SECTION: Final = "section"
NOTES: Final = "notes"


class Unit(NamedTuple):
    """Lines that belong together, and the blank ones below them."""

    kind: str
    key: str
    """What it is known by in another version."""
    lines: tuple[str, ...]
    gap: tuple[str, ...]
    start: int
    """Its first line in its plan."""
    section: Section | None = None
    """What a part is, or notes stand at the end of."""
    task: Task | None = None
    entry: Entry | None = None
    depth: int = 0
    """How many list items it stands in."""
    item: bool = False
    where: str = ""
    """Of a task the item above it or its sub-heading."""

    @property
    def end(self) -> int:
        """One past its last line."""
        return self.start + len(self.lines)


def parts_of(plan: Plan) -> list[Unit]:
    """What stands above the sections, the sections, and the revision notes below them, in file order."""
    lines = plan.text.lines
    cuts: list[tuple[int, str, str, Section | None]] = [(0, HEAD, "", None)]
    at = len(lines)
    for section in plan.sections:
        if at < section.start:
            cuts.append((at, HEAD, lines[at].strip(), None))
        cuts.append((section.start, SECTION, section.name or outline.key(section.title), section))
        if section.notes < section.end:
            cuts.append((section.notes, NOTES, "", section))
        at = section.end
    if at < len(lines):
        cuts.append((at, HEAD, lines[at].strip(), None))
    ends = [cut[0] for cut in cuts[1:]] + [len(lines)]
    return [
        _unit(plan, kind, key, start, end)._replace(section=section)
        for (start, kind, key, section), end in zip(cuts, ends, strict=True)
    ]


def tasks_of(plan: Plan, part: Unit) -> list[Unit]:
    """The units of a section: its heading, tasks, other items at any depth, and the blocks between them."""
    section = part.section
    assert section is not None
    tasks = {task.start: task for task in plan.tasks}
    tasks |= {task.start: task for _, task in plan.checklists}
    starts: dict[int, tuple[int, bool]] = {}
    quoted = -1
    for block in plan.blocks[section.first : section.last]:
        if not block.depth or (block.kind == ITEM and block.start >= quoted):
            starts.setdefault(block.start, (block.depth, block.kind == ITEM))
        if block.kind == QUOTE:
            quoted = max(quoted, block.end)
    units = [_heading(plan, part, starts)]
    above: list[Unit] = []
    for start, end in _spans(plan, part, starts):
        depth, item = starts.get(start, (0, False))
        task = tasks.get(start)
        above = [each for each in above if each.depth < depth]
        if task is None:
            unit = _block(plan, start, end)._replace(depth=depth, item=item)
        else:
            where = above[-1].key if above else fold(task.heading)
            unit = _unit(plan, TASK, fold(task.text), start, end)
            unit = unit._replace(task=task, depth=depth, item=True, where=where)
        above.append(unit)
        units.append(unit)
    return units


def entries_of(plan: Plan, part: Unit) -> list[Unit]:
    """The units of a log: its heading, entries, and the blocks between them."""
    section = part.section
    assert section is not None
    lines = plan.text.lines
    if plan.conflicts:
        lines = list(lines)
        for at in plan.conflicts:
            lines[at] = ""
    reads = read_entries if part.kind == SECTION and section.name in _LOGS else read_notes
    entries = {each.start: each for each in reads(lines, plan.blocks, section, plan.guidance)}
    starts: dict[int, tuple[int, bool]] = {}
    inside = part.start
    for block in plan.blocks[section.first : section.last]:
        if block.start in entries:
            inside = max(inside, entries[block.start].end)
        elif block.depth or block.start < inside:
            continue
        starts.setdefault(block.start, (block.depth, block.kind == ITEM))
    units = [_heading(plan, part, starts)] if part.kind == SECTION else []
    for start, end in _spans(plan, part, starts):
        entry = entries.get(start)
        item = starts.get(start, (0, False))[1]
        if entry is None:
            units.append(_block(plan, start, end)._replace(item=item))
        else:
            ground = (entry.rationale or "", entry.evidence or "", entry.supersedes or "")
            key = "\n".join([fold(words) for words in (entry.text, *ground)])
            units.append(_unit(plan, ENTRY, key, start, end)._replace(entry=entry, item=item))
    return units


_LOGS = (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES)


def _spans(plan: Plan, part: Unit, starts: dict[int, tuple[int, bool]]) -> list[tuple[int, int]]:
    """From where to where the units below the heading go; a conflict marker outside code begins one of its own."""
    marks = {at for at in plan.conflicts if _body(part) <= at < part.end}
    if marks and part.section is not None:
        for block in plan.blocks[part.section.first : part.section.last]:
            if block.kind in (FENCE, CODE, HTML):
                marks.difference_update(range(block.start, block.end))
    places = sorted([at for at in {*starts, *marks} if _body(part) <= at < part.end])
    return list(pairwise([*places, part.end]))


def _heading(plan: Plan, part: Unit, starts: dict[int, tuple[int, bool]]) -> Unit:
    first = min([at for at in (*starts, *plan.conflicts) if _body(part) <= at], default=part.end)
    return _unit(plan, HEAD, "", part.start, min(first, part.end))


def _body(part: Unit) -> int:
    return part.section.body if part.kind == SECTION and part.section is not None else part.start


def _block(plan: Plan, start: int, end: int) -> Unit:
    unit = _unit(plan, TEXT, "", start, end)
    kind = MARKER if _is_marker(plan, start) else TEXT
    if kind == TEXT and all([holds_place(line) for line in unit.lines if line.strip()]):
        kind = PLACE
    return unit._replace(kind=kind, key=fold(" ".join(unit.lines)))


def _is_marker(plan: Plan, line: int) -> bool:
    at = bisect_left(plan.conflicts, line)
    return at < len(plan.conflicts) and plan.conflicts[at] == line


def _unit(plan: Plan, kind: str, key: str, start: int, end: int) -> Unit:
    lines = plan.text.lines[start:end]
    size = len(lines)
    while size and not lines[size - 1].strip():
        size -= 1
    return Unit(kind, key, tuple(lines[:size]), tuple(lines[size:]), start)
