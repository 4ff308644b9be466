"""Release and handover of claims, for `next --release`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.answer import Answer
from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.plan_store import claims
from execplan.team.advice.next_tasks import claim_line, find_open_tasks
from execplan.team.advice.plan_json import plan_json, task_line, tasks_json

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import StoredPlan


def release_claims(
    stored_plan: StoredPlan, plan: ParsedPlan, name: str, *, task: str | None, to: str | None, hours: float | None
) -> Answer:
    """End the claims of `name`, or hand them over; raises ExecplanError if there is nothing to hand over."""
    project, ref = stored_plan.project, stored_plan.ref
    if to is None:
        ids = claims.release_claims(project, ref, name, task)
    else:
        ids = claims.transfer_claims(project, ref, name, to, task, hours)
    tasks = zip(tasks_json(plan.tasks), plan.tasks, strict=True)
    open_tasks_by_id = {fields["id"]: fields for fields, task in tasks if task.is_unfinished}
    released = [open_tasks_by_id[task_id] for task_id in ids if task_id in open_tasks_by_id]
    nothing_text = f"{name} has {'no claims' if task is None else 'no claim on this task'} in {ref.id}"
    if to is not None and not released:
        hint = f"see who has claimed what: execplan next {ref.shell_name}"
        raise ExecplanError("nothing-claimed", nothing_text, exit=CHECK_FAILED, hint=hint)
    remaining_claims = find_open_tasks(project, ref, plan, to)
    action = "released" if to is None else f"handed over to {to}"
    lines = [f"{action}: {task_line(released_task)}" for released_task in released] or [nothing_text]
    lines += [
        claim_line(claimed_task)
        for claimed_task in remaining_claims.claimed_tasks
        if to is None or claimed_task["id"] not in ids
    ]
    data = {
        **plan_json(stored_plan),
        "task": remaining_claims.task,
        "taken": remaining_claims.claimed_tasks,
        "broken": [],
        "released": ids,
    }
    return Answer(data, "\n".join(lines))
