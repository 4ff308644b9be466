"""`execplan next`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.ahead import ahead
from execplan.cli.answer import Answer, Call, typed
from execplan.cli.shape import conflict_warnings, plan_json, task_line
from execplan.cli.verb import lock_option, verb
from execplan.cli.words import words
from execplan.errors import NO, OK, USAGE, ExecplanError
from execplan.plan.model import BROKEN
from execplan.repo import claims, homes, pick, shelf
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from execplan.repo.shelf import Shelved

_UNITS = {"m": 1 / 60, "h": 1.0, "d": 24.0}


@verb(
    reads="the plan; when none is named, the states of all outside the archive; the claims.",
    writes="nothing; with --claim and --release, the claims in the git folder that all worktrees share.",
    examples=(
        "execplan next",
        "execplan next parser --json",
        "execplan next parser --claim agent-1",
        "execplan next parser --claim agent-1 --for 30m",
        "execplan next parser --release agent-1",
    ),
)
@click.argument("plan", required=False)
@click.option("--claim", metavar="NAME", help="Take the task, so that others get the one after it.")
@click.option("--for", "time", metavar="TIME", help="How long: 30m, 2h, 1d; 2h unless told.")
@click.option("--release", metavar="NAME", help="Give back what NAME has taken of this plan.")
@lock_option
def next_(call: Call, plan: str | None, claim: str | None, time: str | None, release: str | None) -> Answer:
    """Print the first open task that nobody has taken, in the order of the file.

    A claim ends when the task is done or its words change, when it is released, or when its time is over. Who claims
    again gets the task that is taken already, for another while.
    """
    if (claim is not None and release is not None) or (time is not None and claim is None):
        what = "--claim and --release exclude each other" if release is not None else "--for goes with --claim"
        raise ExecplanError("usage", what, exit=USAGE, hint="execplan next --claim NAME --for 30m")
    hours = _hours(time) if time is not None else claims.HOURS
    shelved, others = _found(plan)
    if shelved is None:
        return Answer({"task": None, "taken": []}, "no plans yet", next=("execplan new 'Its title'",))
    home, ref = shelved.home, shelved.ref
    told = plan_json(shelved)
    if shelved.plan is None:
        data = {**told, "task": None, "taken": [], "broken": [ref.id]}
        return Answer(data, f"{ref.id} is broken: {told['error']}", NO, next=(f"execplan lint {typed(told['path'])}",))
    if ref.archived:
        data = {**told, "task": None, "taken": [], "broken": others}
        return Answer(data, f"{ref.id} is archived: there is nothing to do in it")
    lines, warnings = [], tuple([f"{name} is broken: see execplan lint {name}" for name in others])
    warnings += conflict_warnings([shelved])
    mine = None
    if claim is not None or release is not None:
        existing(home)
    if release is not None:
        given = claims.give_back(home, ref, words(release, "the name"))
        lines.append(f"released: {', '.join(given)}" if given else f"{release} has taken nothing of this plan")
    elif claim is not None:
        mine = claims.take(home, ref, shelved.plan, words(claim, "the name"), hours)
    found = ahead(home, ref, shelved.plan)
    task = next((each for each in found.taken if each["id"] == mine), None) if claim is not None else found.task
    data = {**told, "task": task, "taken": found.taken, "broken": others}
    name = typed(ref.id, told["path"])
    if task is None:
        lines.append(
            "all that is open is taken" if found.taken else "nothing is open" if shelved.plan.tasks else "no task yet"
        )
        verb = "archive" if told["state"] == "complete" else "add 'First step' -p"
        follow = () if found.taken else (f"execplan {verb} {name}",)
    else:
        lines.append(f"{task_line(task)} in {ref.id}" + (f", yours until {task['until']}" if mine else ""))
        follow = (f"execplan done {task['id']} -p {name}",)
    lines += [line for line, each in zip(found.lines(), found.taken, strict=True) if each["id"] != mine]
    return Answer(data, "\n".join(lines), NO if others else OK, warnings=warnings, next=follow)


def _found(plan: str | None) -> tuple[Shelved | None, list[str]]:
    """The plan that is meant, None where there are none, and the ids of broken ones beside it; raises ExecplanError."""
    if plan is not None or os.environ.get("EXECPLAN_PLAN"):
        home, ref = pick.open_plan(os.getcwd(), plan)
        return shelf.load(home, ref), []
    plans = shelf.load_together(homes.require(os.getcwd()))
    if not plans:
        return None, []
    others = [each.ref.id for each in plans if each.state == BROKEN]
    try:
        return pick.only(plans), others
    except ExecplanError as error:
        if others:
            error.message += f"; broken: {', '.join(others)}"
        raise


def _hours(time: str) -> float:
    """Hours of `30m`, `2h` or `1d`; raises ExecplanError."""
    number, unit = time[:-1], time[-1:]
    if not (number.isascii() and number.isdigit()) or unit not in _UNITS or not 0 < int(number) * _UNITS[unit] <= 720:
        what = f"--for takes a number with m, h or d, at most 30d, not {time!r}"
        raise ExecplanError("usage", what, exit=USAGE, hint="execplan next --claim NAME --for 30m")
    return int(number) * _UNITS[unit]


command = next_
