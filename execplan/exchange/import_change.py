"""Update of a plan to a file that was imported into it before, as one change: what the file says is merged by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from execplan.core.plan.item_format import wrap_text
from execplan.core.plan.line_grammar import read_checkbox, read_prefix
from execplan.core.plan.model import ParsedPlan, Task
from execplan.core.plan.plan_change import ChangeBuilder, ChangedTask, PlanChange, plan_content, task_section
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.status_edits import phase_edits
from execplan.core.plan.task_edits import mark_line, neighbor_format
from execplan.core.text.message_parts import shorten
from execplan.core.text.text_lines import Edit
from execplan.exchange.exchange_plan import (
    BEGUN,
    DONE,
    DROPPED,
    MARKS,
    OPEN,
    ExchangePlan,
    ExchangeTask,
    keyed_tasks,
    task_keys,
)
from execplan.exchange.plan_reading import task_state
from execplan.exchange.task_insertion import Insertion, insert_tasks, insertion_edits
from execplan.exchange.task_reference import split_reference

_STATE_WORDS = {OPEN: "open", BEGUN: "in progress", DONE: "done", DROPPED: "dropped"}
_CHANGE_WORDS = {OPEN: "reopened", BEGUN: "in progress", DONE: "done", DROPPED: "dropped"}
_MAX_LABEL = 60


class ImportReport:
    """What an import changes and what it leaves, in sentences for people."""

    def __init__(self) -> None:
        self.changes: list[str] = []
        self.conflicts: list[str] = []
        self.warnings: list[str] = []


class _Update(NamedTuple):
    """The new mark and text of a task of the plan."""

    mark: str
    text: str
    time: datetime
    """When it was done, if it is."""


def build_import(
    base: ExchangePlan | None, new: ExchangePlan, name: str, now: datetime, report: ImportReport
) -> ChangeBuilder:
    """Build a change that updates the tasks of a plan; `name` is the name of the imported file.

    What only the file has changed since the last import, `base`, is written. What the plan has changed stays, and if both
    have changed the same, the report says so. The report is filled when the change is built.
    """
    base_tasks = keyed_tasks(base.tasks) if base is not None else {}
    new_tasks = keyed_tasks(new.tasks)

    def change(plan: ParsedPlan) -> PlanChange:
        task_section(plan, create=True, command="import")
        for messages in (report.changes, report.conflicts, report.warnings):
            messages.clear()  # the change is built again if the file changes during the operation
        current = match_tasks(plan, {**base_tasks, **new_tasks})
        updated: dict[int, _Update] = {}
        for key, task in new_tasks.items():
            if (match := current.get(key)) is not None:
                mark, text = _merge_task(task, base_tasks.get(key), match, name, report)
                if (mark, text) != (match.mark, match.text):
                    updated[match.number - 1] = _Update(mark, text, _completion_time(task, now))
            elif key in base_tasks:
                report.warnings.append(f"{label(task)} was removed from the plan, and is not added again")
        for key, task in base_tasks.items():
            if key not in new_tasks and key in current:
                report.warnings.append(f"{label(task)} is no longer in {name}; the plan keeps it")
        insertions = insert_tasks(plan, new_tasks, current, base_tasks.keys())
        report.changes += [f"added: {label(task)}" for insertion in insertions for task in insertion.tasks]
        return _plan_change(plan, updated, insertions, f"import {name}")

    return change


def match_tasks(plan: ParsedPlan, tasks: Mapping[str, ExchangeTask]) -> dict[str, Task]:
    """Return the task of a plan for each key of imported tasks: the one with the same ID, or else with the same text."""
    own = [task for task in plan.tasks if task.box_line not in plan.placeholder_lines]
    references = [split_reference(task.text) for task in own]
    rows = [(task.depth, reference.id, reference.text) for task, reference in zip(own, references, strict=True)]
    by_key = dict(zip(task_keys(rows), own, strict=True))
    without_id = {
        f"/{' '.join(reference.text.casefold().split())}": task
        for task, reference in zip(own, references, strict=True)
        if not reference.id
    }
    matches: dict[str, Task] = {}
    used: set[int] = set()
    for key, task in tasks.items():
        match = by_key.get(key) or (without_id.get(f"/{' '.join(task.text.casefold().split())}") if task.id else None)
        if match is not None and match.number not in used:
            matches[key] = match
            used.add(match.number)
    return matches


def label(task: ExchangeTask) -> str:
    """Return what a message calls a task: its ID and the beginning of its text."""
    return " ".join(filter(None, (task.id, shorten(task.text, _MAX_LABEL))))


def _merge_task(
    task: ExchangeTask, base: ExchangeTask | None, current: Task, name: str, report: ImportReport
) -> tuple[str, str]:
    """Return the mark and the text that a task of the plan gets."""
    imported_texts = (task.full_text, base.full_text if base is not None else "")
    prefix = read_prefix(current.text)
    prefix = "" if any([text.startswith(prefix) for text in imported_texts]) else prefix  # the file's, not the plan's
    reference = split_reference(current.text.removeprefix(prefix))
    mark, text = current.mark, current.text
    old_text = base.text if base is not None else reference.text
    old_link = base.link if base is not None else ""
    is_other_link = reference.link != task.link and bool(task.link or reference.link == old_link)  # not the plan's own
    if task.id and reference.text == task.text and (reference.id != task.id or is_other_link):
        text = prefix + task.full_text
    elif task.id and task.text not in (reference.text, old_text):
        if reference.text == old_text:
            text = prefix + task.full_text
            report.changes.append(f"reworded: {label(task)}")
        else:
            problem = f"its text is now {task.text!r} in {name}, and {reference.text!r} in the plan, which stays"
            report.conflicts.append(f"{label(task)}: {problem}")
    state = task_state(current)
    old_state = base.state if base is not None else OPEN
    if task.state not in (state, old_state):
        if state == old_state:
            mark = MARKS[task.state]
            report.changes.append(f"{_CHANGE_WORDS[task.state]}: {label(task)}")
        else:
            problem = f"it is {_STATE_WORDS[task.state]} in {name}, and {_STATE_WORDS[state]} in the plan, which stays"
            report.conflicts.append(f"{label(task)}: {problem}")
    if base is not None and _details(task) != _details(base):
        report.warnings.append(
            f"{label(task)}: its description or details changed in {name}; the plan keeps the old ones"
        )
    return mark, text


def _details(task: ExchangeTask) -> tuple[object, ...]:
    return task.notes, task.assignee, task.priority, task.due, task.labels, task.needs


def _rewrite_task(plan: ParsedPlan, task: Task, mark: str, text: str, now: datetime) -> Edit:
    """Return the edit that gives a task another mark, another text or both; a done one gets the time."""
    line = plan.text.lines[task.box_line]
    if mark != task.mark:
        line = mark_line(plan, task, mark, now if mark == "x" else None)
    if text == task.text:
        return Edit(task.box_line, task.box_line + 1, (line,))
    checkbox = read_checkbox(line[line.index(f"[{mark}]") :])
    assert checkbox is not None
    prefix = line[: len(line) - len(checkbox.text)] if checkbox.text else f"{line} "
    return Edit(task.box_line, task.end, tuple(wrap_text(prefix, text, neighbor_format(plan, task))))


def _completion_time(task: ExchangeTask, now: datetime) -> datetime:
    """Return when a task was done according to the file, or the current time."""
    if task.state != DONE or not task.done_at:
        return now
    time = datetime.fromisoformat(task.done_at)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _plan_change(
    plan: ParsedPlan,
    updated: Mapping[int, _Update],
    insertions: Sequence[Insertion],
    summary: str,
) -> PlanChange:
    """Return the change with the updated tasks and the insertions, and the content that the plan then has."""
    content = plan_content(plan)
    if not updated and not insertions:
        return PlanChange((), content, "", ())
    edits = [_rewrite_task(plan, plan.tasks[at], *update) for at, update in updated.items()]
    marks = list(content.tasks)
    for at, update in updated.items():
        marks[at] = update.mark, update.text
    if plan.has_tasks_elsewhere:
        edits += [edit for edit, _ in phase_edits(plan, marks)]
    inserted, titles = insertion_edits(plan, insertions)
    replaced = [range(edit.start, edit.end) for edit in inserted]
    ids = task_ids(plan.tasks)
    rows: list[tuple[int, int, tuple[str, str], str | None]] = [
        (task.start, 1, marks[at], ids[at] if at in updated else "")
        for at, task in enumerate(plan.tasks)
        if not any([task.start in lines for lines in replaced])
    ]
    rows += [
        (edit.start, 0, (MARKS[task.state], task.full_text), None)
        for edit, insertion in zip(inserted, insertions, strict=True)
        for task in insertion.tasks
    ]
    rows.sort(key=lambda row: row[:2])
    changed = [ChangedTask(at, row[3]) for at, row in enumerate(rows) if row[3] != ""]
    expected = content._replace(tasks=tuple([row[2] for row in rows]), sections=titles)
    return PlanChange((*edits, *inserted), expected, summary, (), tuple(changed))
