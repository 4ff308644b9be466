"""Selection of a plan's open tasks: the user's own or the next one, and those claimed by others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.advice.plan_json import task_line, tasks_json
from execplan.plan.model import OPEN
from execplan.plan_store import claims
from execplan.plan_store.author import actor

if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


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
    tasks = [task for task in tasks_json(plan.tasks[: last_index + 1]) if task["state"] == OPEN]
    claimed_tasks = [
        {**task, "by": claims_by_task[task["id"]].name, "until": claims_by_task[task["id"]].format_end()}
        for task in tasks
        if task["id"] in claims_by_task
    ]
    actor_name = (name or actor(project)) if claimed_tasks else ""
    first_unclaimed = next((task for task in tasks if task["id"] not in claims_by_task), None)
    return OpenTasks(next((task for task in claimed_tasks if task["by"] == actor_name), first_unclaimed), claimed_tasks)


def claim_line(task: dict[str, Any]) -> str:
    """Format a claimed task as a line for people."""
    return f"claimed by {task['by']} until {task['until']}: {task_line(task)}"
