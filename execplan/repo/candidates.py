"""The plans that a command could mean, each described so that a person or an agent can choose one."""

from __future__ import annotations

import os

from execplan.clock import PLAIN, now, write_stamp
from execplan.errors import INPUT, ExecplanError
from execplan.plan.model import OPEN
from execplan.plan.seek import task_ids
from execplan.repo import claims, shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from execplan.plan.model import Plan
    from execplan.repo.shelf import Shelved


def ambiguous(plans: Sequence[Shelved], message: str, hint: str) -> ExecplanError:
    """The error that describes each of several plans, which are named by their paths where two have one ID."""
    ids = [each.ref.id for each in plans]
    is_one_id = len({shelf.same_id(name) for name in ids}) < len(ids)
    return ExecplanError(
        "ambiguous-plan",
        message,
        exit=INPUT,
        hint=hint,
        candidates=[each.home.shown(each.ref.path) for each in plans] if is_one_id else ids,
        details=[describe(each) for each in plans],
    )


def describe(shelved: Shelved) -> dict[str, Any]:
    """The ID, path, title, state and progress of a plan, its last change, its next task and the claims on its tasks."""
    plan = shelved.plan
    next_task, held = _open_tasks(shelved, plan) if plan is not None else (None, [])
    return {
        "id": shelved.ref.id,
        "path": shelved.home.shown(shelved.ref.path),
        "title": plan.title if plan is not None else None,
        "state": shelved.state,
        "counts": plan.counts() if plan is not None else None,
        "changed": _last_change(shelved, plan),
        "next": next_task,
        "taken": held,
    }


def summary(described: dict[str, Any]) -> str:
    """The state, progress, last change, next task and claims of a plan that was described, on a line."""
    counts, task = described["counts"], described["next"]
    parts = [described["state"] + (f", {counts['done']} of {counts['total']} tasks done" if counts else "")]
    parts += [f"changed {described['changed']}"] if described["changed"] else []
    parts += [f"next {task['id']}: {task['text']}"] if task else []
    parts += [f"{each['id']} claimed by {each['by']} until {each['until']}" for each in described["taken"]]
    return "; ".join(parts)


def _open_tasks(shelved: Shelved, plan: Plan) -> tuple[dict[str, str] | None, list[dict[str, str]]]:
    """The first open task that nobody has claimed, and the claimed ones."""
    if shelved.ref.archived:
        return None, []
    tasks = [(name, task) for name, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.state == OPEN]
    taken = claims.taken(shelved.home, shelved.ref, plan)
    free = next(({"id": name, "text": task.text} for name, task in tasks if name not in taken), None)
    held = [
        {"id": name, "text": task.text, "by": taken[name].name, "until": _time(taken[name].until)}
        for name, task in tasks
        if name in taken
    ]
    return free, held


def _last_change(shelved: Shelved, plan: Plan | None) -> str | None:
    """The newest timestamp of a task or an entry; without one, when the file was last written."""
    today = f"{now():%Y-%m-%d}"
    dates = []
    if plan is not None:
        dates = [task.stamp.date for task in plan.tasks if task.stamp is not None and task.stamp.possible]
        entries = (*plan.decisions, *plan.outcomes, *plan.revisions)
        dates += [each.date[:10] for each in entries if each.date and _is_date(each.date[:10])]
    dates = [each for each in dates if each <= today]
    if dates:
        return max(dates)
    try:
        return _time(int(os.stat(shelved.ref.path).st_mtime))[:10]
    except OSError:
        return None


def _is_date(text: str) -> bool:
    parts = text.split("-")
    return [len(each) for each in parts] == [4, 2, 2] and "".join(parts).isdecimal()


def _time(seconds: int) -> str:
    from datetime import UTC, datetime

    return write_stamp(datetime.fromtimestamp(seconds, UTC), PLAIN).strip("()")
