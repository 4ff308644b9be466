"""What must hold when two sides have changed one plan, whatever they did: the other target of the fuzzer.

Behind the plan stand the changes of the one side, and behind a line that begins with `%%%%` those of the other.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.merge.merge_units import split_plan, split_section
from execplan.core.plan.merge.plan_merge import merge_plans
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.text.line_merge import merge_with_markers as lines
from tests.fuzz.edit_script import parse

if TYPE_CHECKING:
    from execplan.core.plan.merge.plan_merge import MergeResult
    from execplan.core.plan.model import ParsedPlan, Task
    from tests.fuzz.edit_script import Step

SIDES = b"\n%%%%"


def examine(data: bytes) -> None:
    """Merge what two scripts made of a plan; raises AssertionError, or whatever a defect raises."""
    first_script, _, second_script = data.partition(SIDES)
    base, steps = parse(first_script)
    _, other_steps = parse(b"\n" + second_script)
    try:
        plans = [reader.read(base)]
    except ExecplanError:
        return
    ours, theirs = _apply_steps(base, steps), _apply_steps(base, other_steps)
    for side in (ours, theirs):
        plans.append(reader.read(side))
        assert merge_plans(base, side, side, lines).data == side
        assert merge_plans(base, base, side, lines).data == side
        assert merge_plans(base, side, base, lines).data == side
        assert merge_plans(None, side, side, lines).data == side
    if any([plan.conflict_lines for plan in plans]):
        return
    forward, backward = merge_plans(base, ours, theirs, lines), merge_plans(base, theirs, ours, lines)
    check_merged(plans, forward)
    check_merged([plans[0], plans[2], plans[1]], backward)
    assert forward.conflict_count == backward.conflict_count, "one way round there are more conflicts"
    if not forward.conflict_count:
        line_counts = [
            Counter([line for line in reader.read(result.data).text.lines if line.strip()])
            for result in (forward, backward)
        ]
        assert line_counts[0] == line_counts[1], (line_counts[0] - line_counts[1], line_counts[1] - line_counts[0])
    check_added(plans[1:], merge_plans(None, ours, theirs, lines))


def _apply_steps(data: bytes, steps: list[Step]) -> bytes:
    """A plan as a side leaves it."""
    original = data
    for step in steps:
        try:
            data = apply_change(data, step.make(original))[0]
        except ExecplanError:
            continue
    return data


def check_merged(plans: list[ParsedPlan], merged: MergeResult) -> None:
    """It can be read, holds what either side has added, and no task twice at one place."""
    base = Counter([normalize_text(task.text) for task in plans[0].tasks])
    check_added([plan._replace(tasks=_added_tasks(plan, base)) for plan in plans[1:]], merged)
    if merged.conflict_count or any([note.startswith("merged line by line") for note in merged.notes]):
        return
    *sides, merged_places = [_task_places(plan) for plan in (*plans, reader.read(merged.data))]
    for name, places in merged_places.items():
        if places.total() > max([side.get(name, Counter()).total() for side in sides]):
            for parent, count in places.items():
                limit = max([side.get(name, Counter())[parent] for side in sides])
                assert count <= limit, f"twice: {name}, below {parent}"


def _task_places(plan: ParsedPlan) -> dict[str, Counter[str]]:
    """How often each task stands below which item, or sub-heading."""
    places: dict[str, Counter[str]] = {}
    for unit in [unit for part in split_plan(plan) if part.section is not None for unit in split_section(plan, part)]:
        if unit.task is not None and unit.task in plan.tasks:
            places.setdefault(normalize_text(unit.task.text), Counter())[unit.parent_key] += 1
    return places


def _added_tasks(plan: ParsedPlan, base: Counter[str]) -> list[Task]:
    """The tasks that a side has added."""
    return [task for task in plan.tasks if not base[normalize_text(task.text)]]


def check_added(sides: list[ParsedPlan], merged: MergeResult) -> None:
    """It can be read, has markers where it says so, and holds the tasks of both sides."""
    plan = reader.read(merged.data)
    assert bool(merged.conflict_count) is bool(plan.conflict_lines), (merged.conflict_count, plan.conflict_lines)
    plan_letters = _letters(plan.text.to_str())
    for number, side in enumerate(sides):
        side_letters = _letters("".join(_lines_of_side(plan.text.lines, number)))
        for task in side.tasks:
            assert _letters(task.text) in plan_letters or _letters(task.text) in side_letters, f"lost: {task.text}"


def _lines_of_side(lines: list[str], number: int) -> list[str]:
    """The lines that one side of the conflicts has: their markers can stand between the lines of a task."""
    kept, current = [], -1
    for line in lines:
        if line.startswith("<<<<<<<"):
            current = 0
        elif line.startswith("=======") and current == 0:
            current = 1
        elif line.startswith(">>>>>>>"):
            current = -1
        elif current in (-1, number):
            kept.append(line)
    return kept


def _letters(text: str) -> str:
    """What of some words is the same however they are marked and wrapped."""
    return "".join([char for char in text.casefold() if char.isalnum()])
