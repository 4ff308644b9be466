"""Output of `next` for one plan: its next task, and what is claimed, blocked or unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.plan.plan_lookup import find_task
from execplan.team.advice import execution_status
from execplan.team.advice.next_tasks import (
    blocked_line,
    claim_line,
    describe_blockers,
    describe_unknown,
    find_open_tasks,
)
from execplan.team.advice.plan_advice import advise
from execplan.team.advice.plan_json import plan_json, task_line

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import StoredPlan
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
    advice = advise(stored_plan, open_tasks, execution)
    advice = advice.in_directory(location.directory if location is not None else "")
    run = execution_status.unfinished_run(execution)
    if open_tasks.task is None:
        lines = [_no_task_text(open_tasks, plan)]
    else:
        until = f", claimed by you, in progress until {open_tasks.task['until']}" if open_tasks.is_yours else ""
        lines = [f"{task_line(open_tasks.task)} in {ref.id}{until}"]
        lines += [f"check: {open_tasks.task['check']}"] if open_tasks.task["check"] else []
    why = execution_status.open_run_text(run, execution["state"]) if run is not None and execution else advice.why
    lines += [why] if why else []
    if open_tasks.plan_blockers:
        lines.append(f"{ref.id} is {describe_blockers(open_tasks)}")
    lines += [blocked_line(task) for task in open_tasks.blocked_tasks]
    lines += [claim_line(task) for task in open_tasks.other_claimed_tasks]
    lines += [f"{describe_unknown(open_tasks)}: {_UNKNOWN_REASON}"] if open_tasks.unknown else []
    lines += [location.describe()] if location is not None else []
    data = {
        **plan_json(stored_plan),
        "task": open_tasks.task,
        "taken": open_tasks.claimed_tasks,
        "blocked": open_tasks.blocked_tasks,
        "blocked_by": [blocker.to_json() for blocker in open_tasks.plan_blockers],
        "unknown_dependencies": list(open_tasks.unknown),
        "run": run,
        "worktree": location.to_json() if location is not None else None,
    }
    work = advice.work
    if work is not None and work.task is not None:
        work = work._replace(description="do it")
    return Answer(data, printable_lines(lines), warnings=open_tasks.problems, next_commands=advice.commands, work=work)


def _no_task_text(open_tasks: OpenTasks, plan: ParsedPlan) -> str:
    """Describe why there is no next task."""
    if open_tasks.plan_blockers or open_tasks.blocked_tasks:
        return f"all open tasks are {'claimed or ' if open_tasks.claimed_tasks else ''}blocked"
    if open_tasks.claimed_tasks:
        return "all open tasks are claimed"
    return "no open tasks" if plan.tasks else "no tasks yet"
