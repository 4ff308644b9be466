"""Descriptions of the plans that a command could refer to, so that a person or an agent can choose one."""

from __future__ import annotations

import os

from execplan.clock import format_minute, now
from execplan.errors import INPUT, ExecplanError
from execplan.plan.plan_lookup import task_ids
from execplan.plan_store import claims, plan_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from execplan.plan.model import ParsedPlan
    from execplan.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.project.project import Project

    class FoundPlan(Protocol):
        """A plan whose state is known."""

        @property
        def project(self) -> Project:
            """Return the project of the plan."""

        @property
        def ref(self) -> PlanRef:
            """Return the location of the plan."""

        @property
        def state(self) -> str:
            """Return the state of the plan."""


_MAX_DETAILS = 100
"""Maximum number of plans that are read for the details of an error."""


def ambiguous_plan_error(plans: Sequence[FoundPlan], message: str, hint: str) -> ExecplanError:
    """Return an error about several plans, with details of the first 100; two with the same ID are named by path."""
    ids = [plan.ref.id for plan in plans]
    is_one_id = len({plan_store.normalize_id(name) for name in ids}) < len(ids)
    return ExecplanError(
        "ambiguous-plan",
        message,
        exit=INPUT,
        hint=hint,
        candidates=[plan.project.display_path(plan.ref.path) for plan in plans] if is_one_id else ids,
        details=[describe_plan(_load(plan)) for plan in plans[:_MAX_DETAILS]],
    )


def _load(plan: FoundPlan) -> StoredPlan:
    """Return a plan with its content, which is read if that is necessary."""
    return plan if isinstance(plan, plan_store.StoredPlan) else plan_store.load(plan.project, plan.ref)


def describe_plan(stored_plan: StoredPlan) -> dict[str, Any]:
    """Describe a plan: ID, path, title, state, progress, last change, next task, and claims on its tasks."""
    plan = stored_plan.plan
    next_task, claimed = _next_and_claimed_tasks(stored_plan, plan) if plan is not None else (None, [])
    return {
        "id": stored_plan.ref.id,
        "path": stored_plan.project.display_path(stored_plan.ref.path),
        "title": plan.title if plan is not None else None,
        "state": stored_plan.state,
        "counts": plan.counts() if plan is not None else None,
        "changed": _last_change(stored_plan, plan),
        "next": next_task,
        "taken": claimed,
    }


def format_description(description: dict[str, Any]) -> str:
    """Format the state, progress, last change, next task and claims of a plan description on one line."""
    counts, task = description["counts"], description["next"]
    parts = [description["state"] + (f", {counts['done']} of {counts['total']} tasks done" if counts else "")]
    parts += [f"changed {description['changed']}"] if description["changed"] else []
    parts += [f"next {task['id']}: {task['text']}"] if task else []
    parts += [
        f"{claimed['id']} claimed by {claimed['by']} until {claimed['until']}" for claimed in description["taken"]
    ]
    return "; ".join(parts)


def _next_and_claimed_tasks(
    stored_plan: StoredPlan, plan: ParsedPlan
) -> tuple[dict[str, str] | None, list[dict[str, str]]]:
    """Return the first open task without a claim, and the claimed tasks."""
    if stored_plan.ref.archived:
        return None, []
    tasks = [
        (task_id, task) for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.is_unfinished
    ]
    task_claims = claims.task_claims(stored_plan.project, stored_plan.ref, plan)
    unclaimed = next(
        ({"id": task_id, "text": task.text} for task_id, task in tasks if task_id not in task_claims), None
    )
    claimed = [
        {
            "id": task_id,
            "text": task.text,
            "by": task_claims[task_id].name,
            "until": task_claims[task_id].format_end(),
        }
        for task_id, task in tasks
        if task_id in task_claims
    ]
    return unclaimed, claimed


def _last_change(stored_plan: StoredPlan, plan: ParsedPlan | None) -> str | None:
    """Return the newest date of a task or an entry; without one, the modification date of the file."""
    today = f"{now():%Y-%m-%d}"
    dates = []
    if plan is not None:
        dates = [task.timestamp.date for task in plan.tasks if task.timestamp is not None and task.timestamp.is_valid]
        entries = (*plan.decisions, *plan.outcomes, *plan.revisions)
        dates += [entry.date[:10] for entry in entries if entry.date and _is_date(entry.date[:10])]
    dates = [date for date in dates if date <= today]
    if dates:
        return max(dates)
    try:
        return format_minute(int(os.stat(stored_plan.ref.path).st_mtime))[:10]
    except OSError:
        return None


def _is_date(text: str) -> bool:
    parts = text.split("-")
    return [len(part) for part in parts] == [4, 2, 2] and "".join(parts).isdecimal()
