"""Output of `next`: the next task of a plan, and what is claimed, blocked or unknown; for several projects, a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.output.worktree_output import worktree_lines
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan.plan_lookup import find_task
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.team.advice import execution_status
from execplan.team.advice.advice import Advice
from execplan.team.advice.next_tasks import (
    blocked_line,
    claim_line,
    describe_blockers,
    describe_next_task,
    describe_unknown,
    find_open_tasks,
    first_lines,
)
from execplan.team.advice.plan_advice import advise
from execplan.team.advice.plan_json import plan_json, task_line

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.core.project.project_list import ProjectList
    from execplan.team.advice.joint_next import JointNext, OpenPlan
    from execplan.team.advice.next_tasks import OpenTasks
    from execplan.team.worktrees.plan_versions import PlanLocation

_UNKNOWN_REASON = "your settings list no such project, or it can't be read"
"""Why a plan of another project, on which a plan depends, is unknown."""


def task_answer(
    stored_plan: StoredPlan, claimant: str | None, query: str | None, location: PlanLocation | None
) -> Answer:
    """Show the next task or the task that `claimant` has just claimed; if given, the task that `query` names."""
    project, ref, plan = stored_plan.project, stored_plan.ref, stored_plan.plan
    assert plan is not None
    open_tasks = find_open_tasks(project, ref, plan, claimant)
    if query is not None:
        task_id = find_task(plan, query)[0]
        open_tasks = open_tasks._replace(
            task=next((task for task in open_tasks.claimed_tasks if task["id"] == task_id), open_tasks.task)
        )
    elif claimant is not None and not open_tasks.is_yours:
        open_tasks = open_tasks._replace(task=None)
    execution = execution_status.status_if_readable(stored_plan)
    advice = advise(stored_plan, open_tasks, execution).at(location, plan_store.name_in_commands(project, ref))
    run = execution_status.unfinished_run(execution)
    if open_tasks.task is None:
        lines = [_no_task_text(open_tasks, plan)]
    else:
        until = f", claimed by you, in progress until {open_tasks.task['until']}" if open_tasks.is_yours else ""
        lines = [f"{task_line(open_tasks.task)} in {ref.id}{until}"]
        lines += [f"check: {open_tasks.task['check']}"] if open_tasks.task["check"] else []
    lines += [execution_status.open_run_text(run, execution["state"])] if run is not None and execution else []
    lines += [advice.why] if advice.why else []
    if open_tasks.plan_blockers:
        lines.append(f"{ref.id} is {describe_blockers(open_tasks)}")
    lines += first_lines([blocked_line(task) for task in open_tasks.blocked_tasks])
    lines += first_lines([claim_line(task) for task in open_tasks.other_claimed_tasks])
    lines += [f"{describe_unknown(open_tasks)}: {_UNKNOWN_REASON}"] if open_tasks.unknown else []
    lines += [location.describe()] if location is not None else []
    data = {
        **plan_json(stored_plan),
        "task": open_tasks.task,
        **open_tasks.to_json(),
        "run": run,
        "worktree": location.to_json() if location is not None else None,
    }
    work = advice.work
    if work is not None and work.task is not None:
        work = work._replace(description="do it")
    return Answer(data, printable_lines(lines), warnings=open_tasks.problems, next_commands=advice.commands, work=work)


def _no_task_text(open_tasks: OpenTasks, plan: ParsedPlan) -> str:
    """Describe why there is no next task."""
    if plan.unfinished_tasks and (open_tasks.plan_blockers or open_tasks.blocked_tasks):
        return f"all open tasks are {'claimed or ' if open_tasks.claimed_tasks else ''}blocked"
    if open_tasks.claimed_tasks:
        return "all open tasks are claimed"
    return "no open tasks" if plan.tasks else "no tasks yet"


def joint_next_answer(selected: ProjectList) -> Answer:
    """Return the answer of `next` for several projects, which lists plans and never chooses one of them."""
    from execplan.cli.output.text_table import format_table
    from execplan.team.advice.joint_next import find_joint_next

    joint = find_joint_next(selected.projects)
    problems = (*selected.problems, *joint.problems)
    plans = [*joint.plans, *[plan for plan, _ in joint.passed_over]]
    ids = [(plan.listed.origin.name, plan.plan.ref.id) for plan in plans]
    names = {
        plan.plan.ref.path: plan.path if ids.count(name) > 1 else plan.plan.ref.id
        for plan, name in zip(plans, ids, strict=True)
    }
    rows = [(plan.listed.origin.name, names[plan.plan.ref.path], _next_text(plan)) for plan in joint.plans]
    no_plans = "all open plans are blocked" if joint.passed_over else "no open plans"
    lines = [format_table(("project", "plan", "next"), rows)] if rows else [no_plans]
    lines += [
        printable_lines([f"passed over: {names[plan.plan.ref.path]} of {plan.listed.origin.name}, {why}"])
        for plan, why in joint.passed_over
    ]
    lines += worktree_lines([(names[plan.plan.ref.path], plan.location) for plan in joint.plans])
    advice = _first_advice(joint)
    work = advice.work
    if work is not None and work.task is not None:
        work = work._replace(description=f"{work.description} of {names[joint.plans[0].plan.ref.path]}")
    unclear = [f"{plan.plan.ref.id}: {text}" for plan in joint.plans for text in plan.open_tasks.problems]
    return Answer(
        {
            "plans": [_plan_json(plan) for plan in joint.plans],
            "passed_over": [{**_plan_json(plan), "why": why} for plan, why in joint.passed_over],
            "broken": [
                {
                    **plan.to_json(),
                    "path": plan.project.shown_path(plan.ref.path),
                    "from_project": listed.origin.to_json(),
                }
                for listed, plan in joint.broken
            ],
        },
        "\n".join(lines),
        CHECK_FAILED if problems or joint.broken else OK,
        warnings=(*problems, *selected.notices, *_broken_warnings(joint), *unclear),
        next_commands=advice.commands,
        work=work,
    )


def _next_text(plan: OpenPlan) -> str:
    tasks = plan.open_tasks
    return describe_next_task(
        plan.plan.state, tasks.task, tasks.claimed_tasks, "", describe_blockers(tasks), describe_unknown(tasks)
    )


def _broken_warnings(joint: JointNext) -> list[str]:
    return [
        f"{plan.ref.id} of {listed.origin.name} is broken: see execplan lint {quote_plan_name(plan.project.shown_path(plan.ref.path))}"
        for listed, plan in joint.broken
    ]


def _first_advice(joint: JointNext) -> Advice:
    """Return the advice for the first plan, with commands that run in its project."""
    if not joint.plans:
        return Advice()
    plan = joint.plans[0]
    stored_plan = plan_store.load(plan.plan.project, plan.plan.ref)
    execution = execution_status.status_if_readable(stored_plan)
    return advise(stored_plan, plan.open_tasks, execution).in_directory(plan.command_directory)


def _plan_json(plan: OpenPlan) -> dict[str, Any]:
    """Return a plan as a document shows it, with its next task."""
    return {
        **plan.plan.to_json(),
        "path": plan.path,
        "from_project": plan.listed.origin.to_json(),
        "task": plan.open_tasks.task,
        **plan.open_tasks.to_json(),
        "worktree": plan.location.to_json() if plan.location is not None else None,
    }
