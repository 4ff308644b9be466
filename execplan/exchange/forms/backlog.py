"""A plan as tasks of Backlog.md, one file each, and a document with its sections."""

from __future__ import annotations

import json

from execplan.core.clock import now
from execplan.core.plan.line_grammar import read_prefix
from execplan.core.plan.model import ParsedPlan
from execplan.core.project.slug import slug
from execplan.exchange.exchange_plan import BEGUN, DONE, DROPPED, OPEN, ExchangePlan, ExchangeTask, ExportedFiles
from execplan.exchange.field_values import unquote_notes
from execplan.exchange.plan_reading import find_losses

_STATUSES = {OPEN: "To Do", BEGUN: "In Progress", DONE: "Done", DROPPED: "Done"}
_PRIORITIES = {
    "high": "high", "highest": "high", "urgent": "high", "p0": "high", "p1": "high", "a": "high",
    "medium": "medium", "p2": "medium", "b": "medium",
    "low": "low", "lowest": "low", "p3": "low", "p4": "low", "c": "low",
}  # fmt: skip
_DROPPED = "dropped"
_ORDINAL = 1000


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the files by their paths in a repository."""
    names = _number_tasks(plan)
    ids = {task.id: name for task, name in zip(plan.tasks, names, strict=True) if task.id}
    files: dict[str, bytes] = {}
    losses = list(find_losses(plan, ("due", "done_at", "group", "id")))
    for order, (task, name) in enumerate(zip(plan.tasks, names, strict=True), 1):
        title = task.text.removeprefix(read_prefix(task.text)) or task.text
        path = f"backlog/tasks/{name} - {slug(title)[:60].strip('-') or 'task'}.md"
        files[path] = _task_file(task, title, name, order, ids).encode()
    unknown = {task.priority for task in plan.tasks if task.priority and task.priority.casefold() not in _PRIORITIES}
    losses += [f"the priority {priority!r} has no counterpart" for priority in sorted(unknown)]
    outside = {need for task in plan.tasks for need in task.needs if need not in ids}
    losses += [f"{need}, which a task waits for, is not part of the plan" for need in sorted(outside)]
    if any([task.depth > 1 for task in plan.tasks]):
        losses.append("parts of parts are parts of the whole task")
    if any([task.state == DROPPED for task in plan.tasks]):
        losses.append(f"dropped tasks are Done, with the label {_DROPPED!r}")
    sections = [(f"## {section.title}\n\n" if section.title else "") + section.text for section in plan.sections]
    if sections or not files:
        head = _front_matter({"id": "doc-1", "title": plan.title, "type": "other", "created_date": f"{now():%Y-%m-%d}"})
        path = f"backlog/docs/doc-1 - {slug(plan.title)[:60].strip('-') or 'plan'}.md"
        files[path] = (head + "\n" + "\n\n".join(sections) + "\n").encode()
    return ExportedFiles(files, tuple(losses))


def _number_tasks(plan: ExchangePlan) -> list[str]:
    """Return the IDs of tasks, such as `task-2`, and `task-2.1` for a part of it; deeper parts count as parts, too."""
    names: list[str] = []
    number = part = 0
    for task in plan.tasks:
        if task.depth and number:
            part += 1
            names.append(f"task-{number}.{part}")
        else:
            number, part = number + 1, 0
            names.append(f"task-{number}")
    return names


def _task_file(task: ExchangeTask, title: str, name: str, order: int, ids: dict[str, str]) -> str:
    parent = name.rpartition(".")[0]
    priority = _PRIORITIES.get(task.priority.casefold(), "")
    labels = [*task.labels, *([_DROPPED] if task.state == DROPPED else [])]
    fields: dict[str, object] = {
        "id": name.upper(),
        "title": title,
        "status": _STATUSES[task.state],
        "assignee": [f"@{task.assignee.lstrip('@')}"] if task.assignee else [],
        "created_date": f"{now():%Y-%m-%d}",
        "labels": labels,
        "dependencies": [ids[need].upper() for need in task.needs if need in ids],
        **({"priority": priority} if priority else {}),
        **({"parent_task_id": parent.upper()} if parent else {}),
        **({"references": [task.link]} if task.link else {}),
        "ordinal": order * _ORDINAL,
    }
    notes = unquote_notes(task.notes)
    return _front_matter(fields) + (f"\n## Description\n\n{notes}\n" if notes else "")


def _front_matter(fields: dict[str, object]) -> str:
    """Return front matter; a text in the form of JSON is one of YAML, too."""
    return "\n".join(
        ["---", *[f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()], "---", ""]
    )
