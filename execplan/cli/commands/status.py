"""The `execplan status` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.advice import execution_status
from execplan.advice.next_tasks import find_open_tasks
from execplan.advice.plan_advice import Advice, advise
from execplan.advice.plan_json import conflict_warnings, plan_json
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.text_table import format_table
from execplan.cli.plan_arguments import plan_argument
from execplan.errors import CHECK_FAILED, OK
from execplan.plan.model import ACTIVE, ARCHIVED, BROKEN, COMPLETE, DRAFT, STATES
from execplan.plan_store import plan_selection, plan_store
from execplan.plan_store.plan_activity import PlanActivity
from execplan.project import project_discovery

if TYPE_CHECKING:
    from execplan.plan_store.plan_store import StoredPlan


@define_command(
    reads="every plan, including nested projects, or the named one; execution plans and approvals.",
    writes="nothing.",
    examples=("execplan status", "execplan status parser --json"),
)
@plan_argument()
def status(call: Call, plan: str | None) -> Answer:
    """Show plans by state, and the next task of each open plan.

    Broken plans come first.
    """
    is_named = plan is not None or plan_selection.plan_from_environment() is not None
    if not is_named:
        project = project_discovery.require(os.getcwd())
        stored_plans = plan_store.load_with_nested(project, archive=True)
    else:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
        stored_plans = [plan_store.load(project, ref)]
    stored_plans.sort(key=lambda stored_plan: STATES.index(stored_plan.state))
    activity = PlanActivity()
    plan_statuses = [
        _plan_status(stored_plan, activity) for stored_plan in stored_plans if is_named or stored_plan.state != ARCHIVED
    ]
    plan_documents = [plan_data for plan_data, _ in plan_statuses]
    counts = {state: sum([stored_plan.state == state for stored_plan in stored_plans]) for state in STATES}
    broken = [plan_data for plan_data in plan_documents if plan_data["state"] == BROKEN]
    lines = [", ".join([f"{count} {state}" for state, count in counts.items() if count]) or "no plans yet"]
    advice = Advice() if plan_documents else Advice(("execplan new 'Its title'",))
    if plan_documents:
        name = "path" if len({stored_plan.project.base for stored_plan in stored_plans}) > 1 else "id"
        lines += [
            "",
            format_table(
                ("state", "done", name, "next"),
                [_status_row(plan_data, name, advised) for plan_data, advised in plan_statuses],
            ),
        ]
        advice = next(
            (plan_advice for _, plan_advice in plan_statuses if plan_advice.commands or plan_advice.work), advice
        )
    work = advice.work
    if work is not None and work.task is not None and len(plan_documents) > 1:
        plan_of = next(plan_data["id"] for plan_data, advised in plan_statuses if advised is advice)
        work = work._replace(description=f"{work.description} (in {plan_of})")
    data = {"states": counts, "plans": plan_documents}
    warnings = conflict_warnings(stored_plans)
    exit_ = CHECK_FAILED if broken else OK
    return Answer(data, "\n".join(lines), exit_, warnings=warnings, next_commands=advice.commands, work=work)


def _plan_status(stored_plan: StoredPlan, activity: PlanActivity) -> tuple[dict[str, Any], Advice]:
    """Return a plan with its next task and whether it is stalled, and advice on what to do next."""
    plan_data = plan_json(stored_plan)
    plan = stored_plan.plan if stored_plan.state in (ACTIVE, DRAFT) else None
    open_tasks = find_open_tasks(stored_plan.project, stored_plan.ref, plan) if plan is not None else None
    plan_data["next"] = open_tasks.task if open_tasks is not None else None
    plan_data["taken"] = open_tasks.claimed_tasks if open_tasks is not None else []
    plan_data["stalled"] = plan is not None and activity.is_stalled(stored_plan.project, stored_plan.ref.path, plan)
    plan_data["execution"] = execution_status.status_if_active(stored_plan)
    return plan_data, Advice() if stored_plan.state == ARCHIVED else advise(
        stored_plan, open_tasks, plan_data["execution"]
    )


def _status_row(plan_data: dict[str, Any], name: str, advice: Advice) -> tuple[str, str, str, str]:
    if plan_data["state"] == BROKEN:
        return BROKEN, "-", plan_data[name], plan_data["error"]
    counts = plan_data["counts"]
    progress = f"{counts['done']}/{counts['total']}"
    if counts["other"]:
        progress += f" +{counts['other']} other"
    marks = (" (stalled)" if plan_data["stalled"] else "") + execution_status.status_suffix(plan_data["execution"])
    return plan_data["state"], progress, plan_data[name], _next_task_text(plan_data, advice) + marks


def _next_task_text(plan_data: dict[str, Any], advice: Advice) -> str:
    """Return the next task of a plan and the claims of others, or why there is none."""
    task = plan_data["next"]
    other_claims = [
        claimed_task for claimed_task in plan_data["taken"] if task is None or claimed_task["id"] != task["id"]
    ]
    claimed = ", ".join([f"{claimed_task['number']}. by {claimed_task['by']}" for claimed_task in other_claims])
    if task:
        yours = " (claimed by you, in progress)" if "by" in task else ""
        return f"{task['number']}. {task['text']}{yours}" + (f" (claimed: {claimed})" if claimed else "")
    if claimed:
        return f"all open tasks are claimed: {claimed}"
    if plan_data["state"] != COMPLETE:
        return "no tasks yet" if plan_data["state"] in (DRAFT, ACTIVE) else ""
    if plan_data["execution"]:
        return "no open tasks"
    return (
        "no open tasks: archive it"
        if advice.commands[0].startswith("execplan archive")
        else "no open tasks, no outcome"
    )


command = status
