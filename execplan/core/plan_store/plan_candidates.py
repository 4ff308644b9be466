"""Descriptions of the plans that a command could refer to, so that a person or an agent can choose one."""

from __future__ import annotations

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_dates import latest_date
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.author import actor
from execplan.core.text.message_parts import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_activity import PlanActivity
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project

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
_MAX_ARCHIVED = 10
"""Maximum number of archived plans that an error names."""


def ambiguous_plan_error(plans: Sequence[FoundPlan], message: str, hint: str) -> ExecplanError:
    """Return an error about several plans, with details of the first 100; two with the same ID are named by path."""
    ids = [plan.ref.id for plan in plans]
    activity = _plan_activity()
    is_one_id = len({plan_store.normalize_id(name) for name in ids}) < len(ids)
    return ExecplanError(
        "ambiguous-plan",
        message,
        hint=hint,
        candidates=[plan.project.display_path(plan.ref.path) for plan in plans] if is_one_id else ids,
        details=[_describe_plan(_load(plan), activity) for plan in plans[:_MAX_DETAILS]],
    )


def _load(plan: FoundPlan) -> StoredPlan:
    """Return a plan with its content, which is read if that is necessary."""
    return plan if isinstance(plan, plan_store.StoredPlan) else plan_store.load(plan.project, plan.ref)


def _describe_plan(stored_plan: StoredPlan, activity: PlanActivity) -> dict[str, Any]:
    """Describe a plan: ID, path, title, state, progress, last change, next task, and claims on its tasks."""
    plan = stored_plan.plan
    next_task, claimed = _next_and_claimed_tasks(stored_plan, plan) if plan is not None else (None, [])
    return {
        "id": stored_plan.ref.id,
        "path": stored_plan.project.display_path(stored_plan.ref.path),
        "title": plan_store.plan_title(stored_plan.project, stored_plan.ref, plan.title) if plan is not None else None,
        "state": stored_plan.state,
        "counts": plan.counts() if plan is not None else None,
        "changed": _last_change(stored_plan, plan, activity),
        "next": next_task,
        "taken": claimed,
    }


def format_description(description: dict[str, Any]) -> str:
    """Format the state, progress, last change, next task and claims of a plan description on one line."""
    counts, task = description["counts"], description["next"]
    parts = [description["state"] + (f", {counts['done']} of {counts['total']} tasks done" if counts else "")]
    parts += [f"changed {description['changed']}"] if description["changed"] else []
    parts += [f"next {task['id']}: {shorten(task['text'])}"] if task else []
    parts += [
        f"{claimed['id']} claimed by {claimed['by']} until {claimed['until']}" for claimed in description["taken"]
    ]
    return "; ".join(parts)


def _next_and_claimed_tasks(
    stored_plan: StoredPlan, plan: ParsedPlan
) -> tuple[dict[str, str] | None, list[dict[str, str]]]:
    """Return the author's own claimed task, or else the first open one without a claim; and all claimed tasks."""
    if stored_plan.ref.archived:
        return None, []
    tasks = [
        (task_id, task) for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.is_unfinished
    ]
    task_claims = claims.task_claims(stored_plan.project, stored_plan.ref, plan)
    name = actor(stored_plan.project) if task_claims else ""
    own = [pair for pair in tasks if pair[0] in task_claims and task_claims[pair[0]].name == name]
    unclaimed = [pair for pair in tasks if pair[0] not in task_claims]
    next_task = next(({"id": task_id, "text": task.text} for task_id, task in own + unclaimed), None)
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
    return next_task, claimed


def _plan_activity() -> PlanActivity:
    from execplan.core.plan_store.plan_activity import PlanActivity  # not at the top: it is needed for an error only

    return PlanActivity()


def _last_change(stored_plan: StoredPlan, plan: ParsedPlan | None, activity: PlanActivity) -> str | None:
    """Return the newest date in the plan, as the board shows it; without one, that of the last commit or edit."""
    date = latest_date(plan) if plan is not None else ""
    if date and date <= f"{now():%Y-%m-%d}":
        return date
    try:
        return activity.last_edit(stored_plan.project, stored_plan.ref.path)
    except OSError:
        return None


def name_archived_plans(error: ExecplanError, projects: Sequence[Project]) -> None:
    """Add the archived plans to the error that there are no others, the last one first: each can be named."""
    archived = [
        plan_store.name_in_commands(member, ref)
        for member in projects
        for ref in plan_store.all_refs(member)
        if ref.archived
    ]
    if archived:
        error.candidates = tuple(sorted(archived, reverse=True)[:_MAX_ARCHIVED])
        all_plans = "; all of them: execplan list --all" if len(archived) > _MAX_ARCHIVED else ""
        error.hint = f"{error.hint}; or name an archived one, such as {error.candidates[0]}{all_plans}"
