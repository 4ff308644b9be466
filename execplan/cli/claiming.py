"""`next --release`: claims end, or are handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.ahead import ahead, claim_line
from execplan.cli.answer import Answer, typed
from execplan.cli.shape import plan_json, task_line, tasks_json
from execplan.errors import NO, ExecplanError
from execplan.plan.model import OPEN
from execplan.repo import claims

if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.shelf import Shelved


def release(
    shelved: Shelved, plan: Plan, name: str, *, task: str | None, to: str | None, hours: float | None
) -> Answer:
    """End the claims of `name`, or hand them over; raises ExecplanError where there is nothing to hand over."""
    home, ref = shelved.home, shelved.ref
    ids = claims.give_back(home, ref, name, task) if to is None else claims.hand_over(home, ref, name, to, task, hours)
    open_tasks = {each["id"]: each for each in tasks_json(plan.tasks) if each["state"] == OPEN}
    released = [open_tasks[each] for each in ids if each in open_tasks]
    if to is not None and not released:
        raise ExecplanError(
            "nothing-claimed",
            f"{name} has claimed {'nothing in' if task is None else 'not this task of'} {ref.id}",
            exit=NO,
            hint=f"see who has claimed what: execplan next {ref.typed}",
        )
    found = ahead(home, ref, plan, to)
    done = "released" if to is None else f"handed over to {to}"
    lines = [f"{done}: {task_line(each)}" for each in released] or [f"{name} has claimed nothing in {ref.id}"]
    lines += [claim_line(each) for each in found.taken if to is None or each["id"] not in ids]
    data = {**plan_json(shelved), "task": found.task, "taken": found.taken, "broken": [], "released": ids}
    free = len(open_tasks) > len(found.taken)
    follow = (f"execplan next {typed(ref.id, data['path'])} --claim",) if to is None and free else ()
    return Answer(data, "\n".join(lines), next=follow)
