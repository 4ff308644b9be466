"""A parsed plan in any dialect as an `ExchangePlan`, and what a form loses of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from textwrap import dedent
from typing import Final

from execplan.core.plan.model import DONE as DONE_STATE
from execplan.core.plan.model import OPEN as OPEN_STATE
from execplan.core.plan.model import ParsedPlan, Section, Task
from execplan.core.plan.outline import canonical_name
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan.section_roles import PURPOSE, find_role
from execplan.core.text.markdown_blocks import FRONT, HEADING
from execplan.core.text.message_parts import shorten
from execplan.exchange.exchange_plan import (
    BEGUN,
    DONE,
    DROPPED,
    OPEN,
    ExchangePlan,
    ExchangeSection,
    ExchangeTask,
    parse_details,
)
from execplan.exchange.field_values import split_names
from execplan.exchange.task_reference import split_reference


def read_plan(plan: ParsedPlan, plan_id: str, title: str) -> ExchangePlan:
    """Return a plan's content; `title` is used if the plan has none. Placeholder text is left out."""
    metadata = read_metadata(plan)
    sections = tuple(_sections(plan))
    purposes = [section.text for section in sections if find_role(section.title, plan.text.titles) == PURPOSE]
    introductions = [section.text for section in sections if not section.title]
    return ExchangePlan(
        plan.title or title,
        tuple(_read_tasks(plan)),
        sections,
        next((text for text in [*purposes, *introductions] if text), ""),
        plan_id,
        metadata.owner,
        metadata.created,
        metadata.tags,
    )


def find_section_text(plan: ExchangePlan, name: str, role: str, titles: Mapping[str, str]) -> str:
    """Return the text of the first section with a standard name or a role; `titles` is as in `find_role`."""
    matches = [
        section.text
        for section in plan.sections
        if section.title and (canonical_name(section.title) == name or find_role(section.title, titles) == role)
    ]
    return matches[0] if matches else ""


def task_state(task: Task) -> str:
    """Return the state of a task as other programs know it."""
    if task.state in (OPEN_STATE, DONE_STATE):
        return OPEN if task.state == OPEN_STATE else DONE
    return DROPPED if task.is_dropped else BEGUN


def _read_tasks(plan: ParsedPlan) -> Iterator[ExchangeTask]:
    """Yield the tasks; items without a checkbox around them don't count."""
    above = -1
    for task in plan.tasks:
        if task.box_line not in plan.placeholder_lines:
            above = min(task.depth, above + 1)
            yield _read_task(plan, task, above)


def _read_task(plan: ParsedPlan, task: Task, depth: int) -> ExchangeTask:
    reference = split_reference(task.text)
    stamp = task.timestamp
    details: dict[str, str] = {}
    notes: list[str] = []
    for line in _lines_below(plan, task):
        line_details = parse_details(line.strip().removeprefix("- ")) if not details else {}
        details = details or line_details
        notes += [line] if not line_details else []
    return ExchangeTask(
        reference.text,
        task_state(task),
        depth,
        reference.id,
        reference.link,
        stamp.date_time if stamp is not None and stamp.is_valid and task.state == DONE_STATE else "",
        details.get("assignee", ""),
        details.get("priority", ""),
        details.get("due", ""),
        split_names(details.get("labels", "")),
        split_names(details.get("needs", "")),
        "" if depth else task.heading,
        "\n".join(notes).strip("\n"),
    )


def _lines_below(plan: ParsedPlan, task: Task) -> list[str]:
    """Return the lines in a task's item after its text, without those of nested tasks, and without indentation."""
    if task.status is not None:
        return []
    following = (plan.tasks[index] for index in range(task.number, len(plan.tasks)))
    inner = takewhile(lambda other: other.start < task.item_end, following)
    nested = {line for other in inner for line in range(other.start, other.item_end)}
    lines = [plan.text.lines[line] for line in range(task.end, task.item_end) if line not in nested]
    while lines and not lines[-1].strip():
        lines.pop()
    return dedent("\n".join(lines)).split("\n") if lines else []


def _sections(plan: ParsedPlan) -> Iterator[ExchangeSection]:
    task_lines = {line for task in plan.tasks if task.status is None for line in range(task.start, task.item_end)}
    front_end = plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0
    title_end = next(
        (block.end for block in plan.blocks if block.kind == HEADING and block.start == plan.title_line), front_end
    )
    first = plan.sections[0].start if plan.sections else len(plan.text.lines)
    omitted = task_lines | set(plan.placeholder_lines)
    if introduction := _text(plan, max(front_end, title_end), first, omitted):
        yield ExchangeSection("", introduction)
    headings = {task.heading for task in plan.tasks}
    for section in plan.sections:
        group_lines = _group_lines(plan, section, headings)
        if text := _text(plan, section.body_start, section.end, omitted | group_lines):
            yield ExchangeSection(section.title, text)


def _group_lines(plan: ParsedPlan, section: Section, headings: Collection[str]) -> set[int]:
    blocks = plan.blocks[section.first_block : section.block_end]
    groups = [block for block in blocks if block.kind == HEADING and block.text in headings]
    return {line for block in groups for line in range(block.start, block.end)}


def _text(plan: ParsedPlan, start: int, end: int, omitted: Collection[int]) -> str:
    lines = ["" if line in omitted else plan.text.lines[line] for line in range(start, end)]
    text = "\n".join(lines).strip("\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text if text.strip() else ""


_LOSSES: Final = {
    BEGUN: "in progress becomes open",
    "depth": "parts of tasks become tasks",
    "due": "no place for due dates",
    "done_at": "no place for dates of completion",
    "group": "no place for sub-headings of tasks",
    "id": "no place for IDs of another program",
}
"""What happens to what some forms can't hold: the state of a task, or a field of it."""
_MAX_NAMES: Final = 3
_MAX_NAME: Final = 40


def find_losses(plan: ExchangePlan, lost: Collection[str]) -> tuple[str, ...]:
    """Return what a form loses of a plan, one sentence each.

    `lost` is what the form can't hold: the state `begun`, and fields of tasks.
    """
    losses = []
    for field, sentence in _LOSSES.items():
        if field in lost:
            tasks = [task for task in plan.tasks if (task.state == BEGUN if field == BEGUN else getattr(task, field))]
            losses += [f"{sentence}: {_name_tasks(tasks)}"] if tasks else []
    return tuple(losses)


def _name_tasks(tasks: Sequence[ExchangeTask]) -> str:
    names = [task.id or repr(shorten(task.text, _MAX_NAME)) for task in tasks[:_MAX_NAMES]]
    more = len(tasks) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
