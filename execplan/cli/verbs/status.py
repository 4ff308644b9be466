"""`execplan status`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.cli import standing
from execplan.cli.advice import Advice, advise
from execplan.cli.ahead import ahead
from execplan.cli.answer import Answer, Call
from execplan.cli.plan_name import plan_argument
from execplan.cli.shape import conflict_warnings, plan_json
from execplan.cli.table import table
from execplan.cli.verb import verb
from execplan.errors import NO, OK
from execplan.plan.model import ACTIVE, ARCHIVED, BROKEN, COMPLETE, DRAFT, STATES
from execplan.repo import homes, pick, shelf
from execplan.repo.life import Activity

if TYPE_CHECKING:
    from execplan.repo.shelf import Shelved


@verb(
    reads="every plan, with those of `homes` in the settings, or the one that is named; their execution plans and approvals.",
    writes="nothing.",
    examples=("execplan status", "execplan status parser --json"),
)
@plan_argument()
def status(call: Call, plan: str | None) -> Answer:
    """Count the plans by state, broken ones first, then show each open plan with its next task."""
    is_named = plan is not None or pick.from_environment() is not None
    if not is_named:
        home = homes.require(os.getcwd())
        shelved = shelf.load_together(home, archive=True)
    else:
        home, ref = pick.open_plan(os.getcwd(), plan)
        shelved = [shelf.load(home, ref)]
    shelved.sort(key=lambda each: STATES.index(each.state))
    activity = Activity()
    found = [_told(each, activity) for each in shelved if is_named or each.state != ARCHIVED]
    told = [each for each, _ in found]
    counts = {state: sum([each.state == state for each in shelved]) for state in STATES}
    broken = [each for each in told if each["state"] == BROKEN]
    lines = [", ".join([f"{count} {state}" for state, count in counts.items() if count]) or "no plans yet"]
    advice = Advice() if told else Advice(("execplan new 'Its title'",))
    if told:
        name = "path" if len({each.home.base for each in shelved}) > 1 else "id"
        lines += ["", table(("state", "done", name, "next"), [_row(each, name, advised) for each, advised in found])]
        advice = next((each for _, each in found if each.commands or each.work), advice)
    work = advice.work
    if work is not None and work.task is not None and len(told) > 1:
        plan_of = next(each["id"] for each, advised in found if advised is advice)
        work = work._replace(what=f"{work.what} (in {plan_of})")
    data = {"states": counts, "plans": told}
    warnings = conflict_warnings(shelved)
    exit_ = NO if broken else OK
    return Answer(data, "\n".join(lines), exit_, warnings=warnings, next=advice.commands, work=work)


def _told(shelved: Shelved, activity: Activity) -> tuple[dict[str, Any], Advice]:
    """A plan with its next task and whether it is stalled, and what to do next with it."""
    told = plan_json(shelved)
    plan = shelved.plan if shelved.state in (ACTIVE, DRAFT) else None
    found = ahead(shelved.home, shelved.ref, plan) if plan is not None else None
    told["next"] = found.task if found is not None else None
    told["taken"] = found.taken if found is not None else []
    told["stalled"] = plan is not None and activity.is_stalled(shelved.home, shelved.ref.path, plan)
    told["execution"] = standing.told(shelved)
    return told, Advice() if shelved.state == ARCHIVED else advise(shelved, found, told["execution"])


def _row(told: dict[str, Any], name: str, advice: Advice) -> tuple[str, str, str, str]:
    if told["state"] == BROKEN:
        return BROKEN, "-", told[name], told["error"]
    counts = told["counts"]
    done = f"{counts['done']}/{counts['total']}"
    if counts["other"]:
        done += f" +{counts['other']} other"
    marks = (" (stalled)" if told["stalled"] else "") + standing.mark(told["execution"])
    return told["state"], done, told[name], _next(told, advice) + marks


def _next(told: dict[str, Any], advice: Advice) -> str:
    """The next task of a plan, and who has claimed others; or why there is none."""
    task = told["next"]
    others = [each for each in told["taken"] if task is None or each["id"] != task["id"]]
    claimed = ", ".join([f"{each['number']}. by {each['by']}" for each in others])
    if task:
        yours = " (yours, in progress)" if "by" in task else ""
        return f"{task['number']}. {task['text']}{yours}" + (f" (claimed: {claimed})" if claimed else "")
    if claimed:
        return f"every open task is claimed: {claimed}"
    if told["state"] != COMPLETE:
        return "no task yet" if told["state"] in (DRAFT, ACTIVE) else ""
    if told["execution"]:
        return "no open task"
    return (
        "no open task: archive it" if advice.commands[0].startswith("execplan archive") else "no open task, no outcome"
    )


command = status
