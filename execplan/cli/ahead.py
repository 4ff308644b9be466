"""The open tasks of a plan: yours or the next one, and those that others have claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli.shape import task_line, tasks_json
from execplan.plan.model import OPEN
from execplan.repo import claims
from execplan.repo.author import actor

if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Ahead(NamedTuple):
    """The open tasks of a plan."""

    task: dict[str, Any] | None
    """The first one that is claimed by whoever acts, with `by` and `until`; else the first one without a claim."""
    taken: list[dict[str, Any]]
    """Those that are claimed, each with `by` and `until`; also yours."""

    @property
    def is_yours(self) -> bool:
        """Whether the task is claimed by whoever acts."""
        return self.task is not None and "by" in self.task

    @property
    def others(self) -> list[dict[str, Any]]:
        """The claimed ones but for `task`."""
        return [each for each in self.taken if self.task is None or each["id"] != self.task["id"]]


def ahead(home: Home, ref: Ref, plan: Plan, name: str | None = None) -> Ahead:
    """The open tasks of a plan and who has claimed them; `name` is who acts, if it is not `--as` or git's name."""
    held = claims.taken(home, ref, plan)
    last = next((at for at, task in enumerate(plan.tasks) if task.state == OPEN), -1) if not held else len(plan.tasks)
    tasks = [each for each in tasks_json(plan.tasks[: last + 1]) if each["state"] == OPEN]
    taken = [
        {**each, "by": held[each["id"]].name, "until": held[each["id"]].end()} for each in tasks if each["id"] in held
    ]
    who = (name or actor(home)) if taken else ""
    free = next((each for each in tasks if each["id"] not in held), None)
    return Ahead(next((each for each in taken if each["by"] == who), free), taken)


def claim_line(task: dict[str, Any]) -> str:
    """A claimed task for people."""
    return f"claimed by {task['by']} until {task['until']}: {task_line(task)}"
