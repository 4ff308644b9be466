"""The open tasks of a plan: yours or the next one, and those that others have claimed."""

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
    """The open tasks of a plan."""

    task: dict[str, Any] | None
    """The first one that is claimed by whoever acts, with `by` and `until`; else the first one without a claim."""
    claimed_tasks: list[dict[str, Any]]
    """Those that are claimed, each with `by` and `until`; also yours."""

    @property
    def is_yours(self) -> bool:
        """Whether the task is claimed by whoever acts."""
        return self.task is not None and "by" in self.task

    @property
    def other_claimed_tasks(self) -> list[dict[str, Any]]:
        """The claimed ones but for `task`."""
        return [task for task in self.claimed_tasks if self.task is None or task["id"] != self.task["id"]]


def find_open_tasks(project: Project, ref: PlanRef, plan: ParsedPlan, name: str | None = None) -> OpenTasks:
    """The open tasks of a plan and who has claimed them; `name` is who acts, if it is not `--as` or git's name."""
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
    """A claimed task for people."""
    return f"claimed by {task['by']} until {task['until']}: {task_line(task)}"
