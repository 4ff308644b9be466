"""JSON form of plans, tasks and entries: lines count from 1, ends are inclusive, names are the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.core.plan.model import DOCUMENT, DONE, OTHER
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.plan_recognition import document_reason
from execplan.core.plan.task_checks import find_check
from execplan.core.plan_store import plan_store
from execplan.core.project.plan_dialects import dialect_of
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.edits.plan_writer import EditResult
    from execplan.core.plan.model import Entry, ParsedPlan, Section, Task
    from execplan.core.plan_store.plan_store import StoredPlan


def plan_json(stored_plan: StoredPlan) -> dict[str, Any]:
    """Return a plan's JSON form for lists; for an unreadable plan with the error."""
    plan = stored_plan.plan
    plan_fields: dict[str, Any] = {
        "id": stored_plan.ref.id,
        "path": stored_plan.project.display_path(stored_plan.ref.path),
        "dialect": dialect_of(
            stored_plan.project.display_path(stored_plan.ref.path), stored_plan.project.settings.dialects
        ).name,
        "title": plan_store.plan_title(stored_plan.project, stored_plan.ref, plan.title) if plan is not None else None,
        "state": stored_plan.state,
        "counts": plan.counts() if plan is not None else None,
        "digest": digest(stored_plan.data) if plan is not None else None,
    }
    if stored_plan.error is not None:
        plan_fields["error"] = stored_plan.error.message
    if plan is not None and stored_plan.state == DOCUMENT:
        plan_fields["why"] = document_reason(plan)
    return plan_fields


def full_plan_json(stored_plan: StoredPlan, plan: ParsedPlan) -> dict[str, Any]:
    """Return the complete JSON form of a plan's content."""
    return {
        **plan_json(stored_plan),
        "sections": [section_json(section) for section in plan.sections],
        "tasks": tasks_json(plan.tasks, plan),
        "checklists": [{**task_json(task), "section": section} for section, task in plan.checklists],
        "decisions": [entry_json(entry, "rationale", "date", "author", "supersedes") for entry in plan.decisions],
        "discoveries": [entry_json(entry, "evidence") for entry in plan.discoveries],
        "outcomes": [entry_json(entry, "date") for entry in plan.outcomes],
        "revisions": [entry_json(entry, "date") for entry in plan.revisions],
    }


def section_json(section: Section) -> dict[str, Any]:
    """Return a section's JSON form, without revision notes at its end."""
    return {
        "name": section.name,
        "title": section.title,
        "living": section.is_living,
        "line_start": section.start + 1,
        "line_end": section.notes_start,
    }


def tasks_json(tasks: Sequence[Task], plan: ParsedPlan | None = None) -> list[dict[str, Any]]:
    """Return the JSON form of tasks, with their IDs; with the plan, also with the command of their own check."""
    return [
        {"id": name, **task_json(task), **({"check": _check_command(plan, task)} if plan is not None else {})}
        for task, name in zip(tasks, task_ids(tasks), strict=True)
    ]


def _check_command(plan: ParsedPlan, task: Task) -> str | None:
    """Return the command of a task's own check; None if it has none, or one that can't be read."""
    check = find_check(plan, task)
    return check.command or None if check is not None else None


def task_line(task: dict[str, Any]) -> str:
    """Format a task as a line with its number and ID, and its mark if it is neither open nor done."""
    return f"{task['number']}. {task['text']}{mark_note(task)}  [{task['id']}]"


def task_notes(task: dict[str, Any]) -> str:
    """Return what follows the text of a task: its ID, and when it was done or who has claimed it."""
    if task["state"] == DONE:
        return f"  [{task['id']}]" + (f"  {task['stamp']}" if task["stamp"] else "")
    return f"  [{task['id']}]" + (f"  claimed by {task['by']} until {task['until']}" if "by" in task else "")


def mark_note(task: dict[str, Any]) -> str:
    """Return a note with the mark of a task that is neither open nor done; empty for others, and if the mark isn't known."""
    return f" (marked [{task['mark']}])" if task.get("state") == OTHER else ""


def task_json(task: Task) -> dict[str, Any]:
    """Return the JSON form of a checkbox, in Progress or elsewhere."""
    return {
        "number": task.number,
        "state": task.state,
        "mark": task.mark,
        "text": task.text,
        "stamp": task.timestamp.text if task.timestamp is not None else None,
        "depth": task.depth,
        "line_start": task.start + 1,
        "line_end": task.end,
    }


def entry_json(entry: Entry, *fields: str) -> dict[str, Any]:
    """Return an entry's JSON form with the fields of its kind."""
    entry_fields: dict[str, Any] = {"text": entry.body}
    entry_fields.update({field: getattr(entry, field) for field in fields})
    return {**entry_fields, "line_start": entry.start + 1, "line_end": entry.end}


def amended_json(amended: EditResult, *, dry_run: bool) -> dict[str, Any]:
    """Return the JSON form of an edit's result; in a dry run with the diff."""
    edit_fields: dict[str, Any] = {
        "path": amended.path,
        "changed": amended.changed,
        "digest": amended.digest,
        "commit": amended.commit,
        "said": list(amended.messages),
    }
    if amended.tasks:
        edit_fields["tasks"] = [
            {name: value for name, value in task._asdict().items() if name != "done_by" or value}
            for task in amended.tasks
        ]
    return {**edit_fields, "diff": amended.diff} if dry_run else edit_fields
