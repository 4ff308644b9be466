"""Output of `next` for several projects: a table with the next task of each open plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.output.text_table import format_table
from execplan.cli.output.worktree_output import worktree_lines
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.team.advice import execution_status
from execplan.team.advice.joint_next import find_joint_next
from execplan.team.advice.next_tasks import describe_blockers, describe_next_task, describe_unknown
from execplan.team.advice.plan_advice import Advice, advise
from execplan.team.advice.plan_json import listed_plan_json

if TYPE_CHECKING:
    from execplan.core.project.project_list import ProjectList
    from execplan.team.advice.joint_next import JointNext, OpenPlan


def joint_next_answer(selected: ProjectList) -> Answer:
    """Return the answer of `next` for several projects, which lists plans and never chooses one of them."""
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
                    **listed_plan_json(plan),
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
        **listed_plan_json(plan.plan),
        "path": plan.path,
        "from_project": plan.listed.origin.to_json(),
        "task": plan.open_tasks.task,
        "taken": plan.open_tasks.claimed_tasks,
        "blocked": plan.open_tasks.blocked_tasks,
        "blocked_by": [blocker.to_json() for blocker in plan.open_tasks.plan_blockers],
        "unknown_dependencies": list(plan.open_tasks.unknown),
        "worktree": plan.location.to_json() if plan.location is not None else None,
    }
