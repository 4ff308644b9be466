"""Selection of a plan's open tasks: the user's own or the next one, and those claimed by others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.advice.plan_json import task_line, tasks_json
from execplan.plan.model import ACTIVE, COMPLETE, DRAFT, OPEN
from execplan.plan_store import claims
from execplan.plan_store.author import actor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.plan.model import ParsedPlan
    from execplan.plan_store.claims_file import Claim
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

FINISHING_TEXTS = {"archive": ": archive it", "lint": ", but placeholder text", "outcome": ", no outcome"}
"""What is left to do with a plan without open tasks, by the command that does it."""


class OpenTasks(NamedTuple):
    """The next task of a plan and all its claimed tasks."""

    task: dict[str, Any] | None
    """First task claimed by the current author, with `by` and `until`; otherwise the first unclaimed task."""
    claimed_tasks: list[dict[str, Any]]
    """All claimed tasks, including the author's own, each with `by` and `until`."""

    @property
    def is_yours(self) -> bool:
        """Whether the next task is claimed by the current author."""
        return self.task is not None and "by" in self.task

    @property
    def other_claimed_tasks(self) -> list[dict[str, Any]]:
        """Claimed tasks other than `task`."""
        return [task for task in self.claimed_tasks if self.task is None or task["id"] != self.task["id"]]


def find_open_tasks(project: Project, ref: PlanRef, plan: ParsedPlan, name: str | None = None) -> OpenTasks:
    """Find a plan's open tasks and their claims; `name` is the author, by default `--as` or the Git name."""
    claims_by_task = claims.task_claims(project, ref, plan)
    last_index = (
        next((at for at, task in enumerate(plan.tasks) if task.state == OPEN), -1)
        if not claims_by_task
        else len(plan.tasks)
    )
    tasks = [task for task in tasks_json(plan.tasks[: last_index + 1], plan) if task["state"] == OPEN]
    return select_open_tasks(project, tasks, claims_by_task, name)


def select_open_tasks(
    project: Project, tasks: Sequence[dict[str, Any]], claims_by_task: Mapping[str, Claim], name: str | None = None
) -> OpenTasks:
    """Select from the open tasks of a plan, given with their IDs; `name` is the author as in `find_open_tasks`."""
    claimed_tasks = [
        {**task, "by": claims_by_task[task["id"]].name, "until": claims_by_task[task["id"]].format_end()}
        for task in tasks
        if task["id"] in claims_by_task
    ]
    actor_name = (name or actor(project)) if claimed_tasks else ""
    first_unclaimed = next((task for task in tasks if task["id"] not in claims_by_task), None)
    return OpenTasks(next((task for task in claimed_tasks if task["by"] == actor_name), first_unclaimed), claimed_tasks)


def describe_next_task(
    state: str, task: dict[str, Any] | None, claimed_tasks: Sequence[dict[str, Any]], finishing_command: str
) -> str:
    """Describe a plan's next task and the claims of others, or why there is no next task.

    `finishing_command` is the command that a complete plan needs first, as in FINISHING_TEXTS; empty if a run is open.
    """
    other_claims = [claimed_task for claimed_task in claimed_tasks if task is None or claimed_task["id"] != task["id"]]
    claimed = ", ".join([f"{claimed_task['number']}. by {claimed_task['by']}" for claimed_task in other_claims])
    if task:
        yours = " (claimed by you, in progress)" if "by" in task else ""
        return f"{task['number']}. {task['text']}{yours}" + (f" (claimed: {claimed})" if claimed else "")
    if claimed:
        return f"all open tasks are claimed: {claimed}"
    if state != COMPLETE:
        return "no tasks yet" if state in (DRAFT, ACTIVE) else ""
    return f"no open tasks{FINISHING_TEXTS.get(finishing_command, '')}"


def claim_line(task: dict[str, Any]) -> str:
    """Format a claimed task as a line for people."""
    return f"claimed by {task['by']} until {task['until']}: {task_line(task)}"
