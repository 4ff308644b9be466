"""Places of new tasks in a plan: after the task that precedes them in the imported file, or below the one that contains them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from execplan.core.plan import outline
from execplan.core.plan.item_format import ItemFormat, wrap_text
from execplan.core.plan.model import ParsedPlan, Task
from execplan.core.plan.plan_change import append_to_section, insert_section, task_section
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.plan.task_edits import inner_indent, neighbor_format, next_bullet
from execplan.core.text.text_lines import Edit
from execplan.exchange.exchange_plan import ExchangeTask, box_text, lines_below

_OTHER_TITLE = "Tasks"
"""Title of a new section for tasks in a plan that is no ExecPlan."""
_PLAIN = ItemFormat(0, "  ", is_loose=False)


class Insertion(NamedTuple):
    """New tasks at one place."""

    line: int
    """Line of the plan before which they go, or -1 for the end of its tasks."""
    lines: list[str]
    tasks: list[ExchangeTask]


class _Place(NamedTuple):
    """Where a task of the file is in the plan, or comes to be."""

    depth: int
    existing: Task | None
    line: int = -1
    neighbor: Task | None = None
    """The existing task that a new one follows as a sibling."""
    offset: int = 0
    """Number of new tasks since the neighbor, with this one."""
    indent: str = ""
    column: int = 0
    """Column of the first of the new tasks that are together."""


def insert_tasks(
    plan: ParsedPlan, tasks: Mapping[str, ExchangeTask], current: Mapping[str, Task], removed: Collection[str]
) -> list[Insertion]:
    """Return where those of the tasks go that the plan doesn't have; `removed` are keys of tasks that it had once."""
    insertions: dict[tuple[int, int], Insertion] = {}
    last = next((task for task in reversed(plan.tasks) if _is_anchor(plan, task)), None)
    for task, place in _places(tasks, current, removed, plan, last):
        anchor = place.neighbor or last
        item_format = neighbor_format(plan, anchor) if anchor is not None else _PLAIN
        key = place.line, -place.column  # of several at a line, the most deeply nested ones come first
        insertion = insertions.setdefault(key, Insertion(place.line, [], []))
        head = next_bullet(plan, place.neighbor, place.offset) if place.neighbor is not None else f"{place.indent}- "
        inner = " " * len(head)
        lines = wrap_text(head + box_text(task), task.full_text, item_format._replace(indent=inner))
        insertion.lines.extend([*([""] if item_format.is_loose else []), *lines, *lines_below(task, inner)])
        insertion.tasks.append(task)
    merged: dict[int, Insertion] = {}
    for _, insertion in sorted(insertions.items(), key=lambda pair: pair[0]):
        together = merged.setdefault(insertion.line, Insertion(insertion.line, [], []))
        together.lines.extend(insertion.lines)
        together.tasks.extend(insertion.tasks)
    return list(merged.values())


def _is_anchor(plan: ParsedPlan, task: Task) -> bool:
    return not task.depth and task.status is None and task.box_line not in plan.placeholder_lines


def _places(
    tasks: Mapping[str, ExchangeTask],
    current: Mapping[str, Task],
    removed: Collection[str],
    plan: ParsedPlan,
    last: Task | None,
) -> Iterator[tuple[ExchangeTask, _Place]]:
    """Yield each new task with its place, in the order of the file."""
    above: list[_Place] = []
    for key, task in tasks.items():
        previous = None
        while above and above[-1].depth >= task.depth:
            previous = above.pop()
        existing = current.get(key)
        if existing is not None:
            above.append(_Place(task.depth, existing))
        elif key not in removed:
            sibling = previous if previous is not None and previous.depth == task.depth else None
            place = _new_place(plan, task.depth, sibling, above[-1] if above else None, last)
            above.append(place)
            yield task, place


def _new_place(
    plan: ParsedPlan, depth: int, sibling: _Place | None, parent: _Place | None, last: Task | None
) -> _Place:
    if sibling is not None and sibling.existing is not None:
        return _after(sibling.existing, depth)
    if sibling is not None:
        return sibling._replace(offset=sibling.offset + 1)
    if parent is not None and parent.existing is not None:
        indent = inner_indent(plan, parent.existing)
        return _Place(depth, None, parent.existing.item_end, indent=indent, column=len(indent.expandtabs(4)))
    if parent is not None:
        neighbor, offset = parent.neighbor, parent.offset
        bullet = next_bullet(plan, neighbor, offset) if neighbor is not None else f"{parent.indent}- "
        return _Place(depth, None, parent.line, indent=" " * len(bullet), column=parent.column)
    if last is not None:
        return _after(last, depth)
    return _Place(depth, None)


def _after(task: Task, depth: int) -> _Place:
    return _Place(depth, None, task.item_end, task, 1, column=task.item_block.column)


def insertion_edits(plan: ParsedPlan, insertions: Sequence[Insertion]) -> tuple[list[Edit], tuple[str, ...]]:
    """Return an edit for each insertion, and the titles of all sections after them."""
    titles = tuple([section.title for section in plan.sections])
    edits = []
    for insertion in insertions:
        if insertion.line >= 0:
            edits.append(Edit(insertion.line, insertion.line, tuple(insertion.lines)))
            continue
        section = task_section(plan, create=True, command="import")
        if section is not None:
            edits.append(append_to_section(plan, section, insertion.lines))
        else:
            title = "" if follows_format(plan) else _OTHER_TITLE  # Progress would make an ExecPlan of the plan
            edit, titles = insert_section(plan, outline.PROGRESS, insertion.lines, title=title)
            edits.append(edit)
    return edits, titles
