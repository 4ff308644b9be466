"""What is open in a plan: the task that is next, and those that somebody has taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli.shape import task_line, tasks_json
from execplan.clock import PLAIN, write_stamp
from execplan.plan.model import OPEN
from execplan.repo import claims

if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.claims import Claim
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Ahead(NamedTuple):
    """What is open in a plan."""

    task: dict[str, Any] | None
    """The first task that nobody has taken, in the order of the file."""
    taken: list[dict[str, Any]]
    """Those that somebody has, each with `by` and `until`."""

    def lines(self) -> list[str]:
        """The taken ones for people."""
        return [f"taken by {each['by']} until {each['until']}: {task_line(each)}" for each in self.taken]


def ahead(home: Home, ref: Ref, plan: Plan) -> Ahead:
    """The open tasks of a plan and who has taken them."""
    held = claims.taken(home, ref, plan)
    last = next((at for at, task in enumerate(plan.tasks) if task.state == OPEN), -1) if not held else len(plan.tasks)
    tasks = [each for each in tasks_json(plan.tasks[: last + 1]) if each["state"] == OPEN]
    free = next((each for each in tasks if each["id"] not in held), None)
    return Ahead(free, [_taken(each, held[each["id"]]) for each in tasks if each["id"] in held])


def _taken(task: dict[str, Any], claim: Claim) -> dict[str, Any]:
    from datetime import UTC, datetime

    until = write_stamp(datetime.fromtimestamp(claim.until, UTC), PLAIN).strip("()")
    return {**task, "by": claim.name, "until": until}
