"""`execplan status`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli import standing
from execplan.cli.ahead import ahead
from execplan.cli.answer import Answer, Call, typed
from execplan.cli.shape import conflict_warnings, plan_json
from execplan.cli.table import table
from execplan.cli.verb import verb
from execplan.errors import NO, OK
from execplan.plan.model import ACTIVE, ARCHIVED, BROKEN, COMPLETE, DRAFT, STATES
from execplan.repo import homes, pick, shelf
from execplan.repo.life import is_stalled

if TYPE_CHECKING:
    from execplan.repo.shelf import Shelved


@verb(
    reads="every plan, with those of `homes` in the settings, or the one that is named; their execution plans and approvals.",
    writes="nothing.",
    examples=("execplan status", "execplan status parser --json"),
)
@click.argument("plan", required=False)
def status(call: Call, plan: str | None) -> Answer:
    """Count the plans by state, broken ones first, then show each open plan with its next task."""
    if plan is None:
        home = homes.require(os.getcwd())
        shelved = shelf.load_together(home, archive=True)
    else:
        home, ref = pick.open_plan(os.getcwd(), plan)
        shelved = [shelf.load(home, ref)]
    shelved.sort(key=lambda each: STATES.index(each.state))
    told = [_told(each) for each in shelved if plan is not None or each.state != ARCHIVED]
    counts = {state: sum([each.state == state for each in shelved]) for state in STATES}
    broken = [each for each in told if each["state"] == BROKEN]
    lines = [", ".join([f"{count} {state}" for state, count in counts.items() if count]) or "no plans yet"]
    if told:
        name = "path" if len({each.home.base for each in shelved}) > 1 else "id"
        lines += ["", table(("state", "done", name, "next"), [_row(each, name) for each in told])]
    data = {"states": counts, "plans": told}
    warnings = conflict_warnings(shelved)
    return Answer(data, "\n".join(lines), NO if broken else OK, warnings=warnings, next=_follow(told))


def _told(shelved: Shelved) -> dict[str, Any]:
    """A plan with its next task and whether it is stalled."""
    told = plan_json(shelved)
    plan = shelved.plan if shelved.state in (ACTIVE, DRAFT) else None
    found = ahead(shelved.home, shelved.ref, plan) if plan is not None else None
    told["next"] = found.task if found is not None else None
    told["taken"] = found.taken if found is not None else []
    told["stalled"] = plan is not None and is_stalled(shelved.home, shelved.ref.path, plan)
    told["execution"] = standing.told(shelved)
    return told


def _row(told: dict[str, Any], name: str) -> tuple[str, str, str, str]:
    if told["state"] == BROKEN:
        return BROKEN, "-", told[name], told["error"]
    counts = told["counts"]
    done = f"{counts['done']}/{counts['total']}"
    if counts["other"]:
        done += f" +{counts['other']} other"
    task = told["next"]
    what = f"{task['number']}. {task['text']}" if task else ""
    if told["taken"]:
        who = ", ".join([f"{each['number']}. by {each['by']}" for each in told["taken"]])
        what += f" (taken: {who})" if task else f"all that is open is taken: {who}"
    elif not task:
        what = {DRAFT: "no task yet", ACTIVE: "no task yet", COMPLETE: "nothing open: archive it"}.get(
            told["state"], ""
        )
    what += (" (stalled)" if told["stalled"] else "") + standing.mark(told["execution"])
    return told["state"], done, told[name], what


def _follow(told: list[dict[str, Any]]) -> tuple[str, ...]:
    """The commands that make sense for the first plan that wants something."""
    for each in told:
        name = typed(each["id"], each["path"])
        if each["state"] == BROKEN:
            return (f"execplan lint {typed(each['path'])}",)
        if follow := standing.goes_on(each["execution"], name):
            return follow
        if each["next"]:
            return (f"execplan done {each['next']['id']} -p {name}",)
        if each["state"] == COMPLETE:
            return (f"execplan archive {name}",)
        if each["state"] in (DRAFT, ACTIVE) and not each["taken"]:
            return (f"execplan add 'First step' -p {name}",)
    return () if told else ("execplan new 'Its title'",)


command = status
