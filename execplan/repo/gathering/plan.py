"""The parts of a plan as units: its sections, tasks, decisions and discoveries, without what a template left in it."""

from __future__ import annotations

from execplan.context.unit import DECISION, DISCOVERY, SECTION, TASK, Unit
from execplan.plan import outline
from execplan.plan.model import OPEN
from execplan.plan.seek import find_task, fold, task_ids
from execplan.record import NamedTuple
from execplan.repo.slug import slug
from execplan.text.blocks import HEADING
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from execplan.plan.model import Entry, Plan, Section, Task

    Named = Callable[[str], tuple[str, ...]]
    """Which files a text names."""

_LONG = 1500
"""Characters of a section that is split where its sub-headings stand."""
_LOGS = {outline.DECISIONS: DECISION, outline.SURPRISES: DISCOVERY}


class Parts(NamedTuple):
    """A plan, in units."""

    units: tuple[Unit, ...]
    """In the order of the file."""
    task: str
    """The words of the task that is up next or was asked for; nothing where all are done."""
    purpose: str


def parts(plan: Plan, named: Named, query: str | None = None, decisions: int = 3) -> Parts:
    """The parts of a plan; the last decisions, so many of them, are pinned. Raises ExecplanError for a query that fits no task."""
    cut = _Cut(plan, named)
    ids = task_ids(plan.tasks)
    up: Task | None = None
    if query is not None:
        why, up = "asked for by name", find_task(plan, query)[1]
    else:
        why = "the next open task"
        guidance = frozenset(plan.guidance)
        up = next((task for task in plan.tasks if task.state == OPEN and task.start not in guidance), None)
    found = [*_sections(plan, cut), *_tasks(plan, cut, ids, up, why), *_entries(plan, cut, decisions)]
    found.sort(key=lambda unit: (unit.line_start, unit.line_end))
    purpose = plan.section(outline.PURPOSE)
    words = cut.text(purpose.body, purpose.notes) if purpose is not None else ""
    return Parts(_apart(found), up.text if up is not None else "", words)


class _Cut:
    """Lines of a plan, as units say them."""

    def __init__(self, plan: Plan, named: Named) -> None:
        self._lines = plan.text.lines
        self._guidance = frozenset(plan.guidance)
        self._named = named

    def text(self, start: int, end: int, without: frozenset[int] = frozenset()) -> str:
        """What is said in some lines; guidance left out, and other lines if asked."""
        left = [self._lines[at] for at in range(start, end) if at not in self._guidance and at not in without]
        return "\n".join(left).strip("\n").rstrip()

    def unit(
        self, name: str, kind: str, text: str, title: str, start: int, end: int, order: int, why: str = ""
    ) -> Unit:
        """The unit of some lines; an end is exclusive, and blank lines around are none of it."""
        while start + 1 < end and not self._lines[start].strip():
            start += 1
        while end > start + 1 and not self._lines[end - 1].strip():
            end -= 1
        return Unit(name, kind, text, title, "", start + 1, end, order, why, self._named(text))


def _sections(plan: Plan, cut: _Cut) -> Iterator[Unit]:
    """What stands in no task and no entry of a log."""
    taken = _taken(plan)
    first = plan.sections[0].start if plan.sections else len(plan.text.lines)
    head = cut.text(plan.title_line + 1, first, taken)
    if head:
        yield cut.unit("section:introduction", SECTION, head, "Introduction", plan.title_line + 1, first, 0)
    for section in plan.sections:
        why = "the plan's purpose" if section.name == outline.PURPOSE else ""
        name = f"section:{slug((section.name or section.title).split(' / ')[0])}"
        text = cut.text(section.body, section.notes, taken)
        places = [] if why or len(text) < _LONG else _places(plan, section)
        for title, start, end in places or [("", section.body, section.notes)]:
            text = cut.text(start, end, taken)
            if not _says_something(text):
                continue
            own = f"{name}/{slug(title)}" if title else name
            yield cut.unit(
                own, SECTION, text, f"{section.title}: {title}" if title else section.title, start, end, 0, why
            )
        notes = cut.text(section.notes, section.end, taken)
        if notes:
            yield cut.unit("section:revision-notes", SECTION, notes, "Revision notes", section.notes, section.end, 0)


def _taken(plan: Plan) -> frozenset[int]:
    """The lines of tasks, and of the entries of logs that are units of their own."""
    places = [(task.start, task.end) for task in plan.tasks]
    places += [(entry.start, entry.end) for entry in (*plan.decisions, *plan.discoveries)]
    return frozenset([at for start, end in places for at in range(start, end)])


def _places(plan: Plan, section: Section) -> list[tuple[str, int, int]]:
    """The parts of a section that sub-headings open, each with its title, if there are several."""
    heads = [
        block
        for block in plan.blocks[section.first : section.last]
        if block.kind == HEADING and block.level == 3 and not block.depth and block.start < section.notes
    ]
    if len(heads) < 2:
        return []
    ends = [*[each.start for each in heads[1:]], section.notes]
    above = [("", section.body, heads[0].start)]
    return above + [(each.text, each.start, end) for each, end in zip(heads, ends, strict=True)]


def _says_something(text: str) -> bool:
    """Whether it holds more than headings."""
    return any([line.strip() and not line.startswith("#") for line in text.split("\n")])


def _tasks(plan: Plan, cut: _Cut, ids: Sequence[str], up: Task | None, why: str) -> Iterator[Unit]:
    for name, task in zip(ids, plan.tasks, strict=True):
        text = cut.text(task.start, task.end)
        if not text:
            continue
        pinned = why if task is up else ""
        state = f"{task.number} of {len(plan.tasks)}, {task.state}" + (f", {why}" if pinned else "")
        yield cut.unit(f"task:{name}", TASK, text, state, task.start, task.end, task.number, pinned)


def _entries(plan: Plan, cut: _Cut, pinned: int) -> Iterator[Unit]:
    for kind, entries in ((DECISION, plan.decisions), (DISCOVERY, plan.discoveries)):
        ordered = _oldest_first(entries)
        last = min(pinned, len(ordered)) if kind == DECISION else 0
        why = "the last decision" if last == 1 else f"one of the last {last} decisions"
        for order, entry in enumerate(ordered, start=1):
            text = cut.text(entry.start, entry.end)
            name = f"{kind}:{digest(fold(entry.text).encode('utf-8', 'replace'))[:8]}"
            told = f"{order} of {len(ordered)}" + (f", {entry.date}" if entry.date else "")
            yield cut.unit(
                name, kind, text, told, entry.start, entry.end, order, why if order > len(ordered) - last else ""
            )


def _oldest_first(entries: Sequence[Entry]) -> list[Entry]:
    """Entries as they were made: some logs have the newest on top."""
    dates = [entry.date for entry in entries if entry.date]
    turned = len(dates) > 1 and dates == sorted(dates, reverse=True) and dates[0] > dates[-1]
    return list(reversed(entries)) if turned else list(entries)


def _apart(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """The units, each with an id of its own: the second of equal ids ends in `-2`, and so on."""
    seen: dict[str, int] = {}
    found = []
    for unit in units:
        seen[unit.id] = seen.get(unit.id, 0) + 1
        found.append(unit if seen[unit.id] == 1 else unit._replace(id=f"{unit.id}-{seen[unit.id]}"))
    return tuple(found)
