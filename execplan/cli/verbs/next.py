"""`execplan next`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli import standing
from execplan.cli.advice import advise
from execplan.cli.ahead import ahead, claim_line
from execplan.cli.answer import Answer, Call, typed
from execplan.cli.plan_name import plan_argument
from execplan.cli.printing import one_per_line
from execplan.cli.shape import conflict_warnings, follow_none, none_open, plan_json, task_line
from execplan.cli.verb import lock_option, verb
from execplan.cli.words import words
from execplan.errors import NO, OK, USAGE, ExecplanError
from execplan.plan.model import BROKEN
from execplan.plan.seek import find_task
from execplan.repo import claims, homes, pick, shelf
from execplan.repo.author import actor
from execplan.repo.homes import existing
from execplan.text.hidden import visible

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
        "execplan next parser --claim agent-1 --task 3 --for 30m",
        "execplan next parser --release agent-1",
        "execplan next parser --release agent-1 --to agent-2",
    ),
)
@plan_argument()
@click.option(
    "--claim",
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="Claim the task, so that others get the one after it. NAME defaults to who acts, see --as.",
)
@click.option("--task", metavar="TASK", help="Claim or release this task: number, id or unique words.")
@click.option("--for", "time", metavar="TIME", help="How long the claim lasts: 30m, 2h, 1d (default: 2h).")
@click.option(
    "--release",
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="End the claims of NAME on this plan. NAME defaults to who acts.",
)
@click.option("--to", metavar="NAME", help="With --release: hand the claims over to NAME in one step.")
@lock_option
def next_(
    call: Call,
    plan: str | None,
    claim: str | None,
    task: str | None,
    time: str | None,
    release: str | None,
    to: str | None,
) -> Answer:
    """Print your claimed task, or the first open task that nobody has claimed, in the order of the file.

    A claim ends when the task is done, when you release it, or when its time is over. It follows a task that is
    reworded or split. If you claim again without --task, you get the task that you have claimed already, and its time
    starts again. Who acts is --as NAME, else EXECPLAN_AGENT, else your git name.
    """
    _check_flags(claim, task, time, release, to)
    hours = _hours(time) if time is not None else None
    shelved, others = _found(plan)
    if shelved is None:
        here = homes.require(os.getcwd())
        return Answer({"task": None, "taken": []}, none_open(here), next=follow_none(here))
    home, ref = shelved.home, shelved.ref
    told = plan_json(shelved)
    if shelved.plan is None:
        data = {**told, "task": None, "taken": [], "broken": [ref.id]}
        return Answer(
            data, visible(f"{ref.id} is broken: {told['error']}"), NO, next=(f"execplan lint {typed(told['path'])}",)
        )
    if ref.archived:
        data = {**told, "task": None, "taken": [], "broken": others}
        return Answer(data, visible(f"{ref.id} is archived: there is nothing to do in it"))
    warnings = tuple([f"{name} is broken: see execplan lint {name}" for name in others])
    warnings += conflict_warnings([shelved])
    if claim is not None or release is not None:
        existing(home)
    if release is not None:
        from execplan.cli import claiming

        owner = words(release, "the name") if release else actor(home)
        heir = words(to, "the name") if to is not None else None
        answer = claiming.release(shelved, shelved.plan, owner, task=task, to=heir, hours=hours)
        return answer._replace(warnings=warnings)
    who = (words(claim, "the name") if claim else actor(home)) if claim is not None else None
    if who is not None and claims.take(home, ref, who, hours or claims.HOURS, task) is not None:
        shelved = shelf.load(home, ref)
    answer = _open(shelved, who, task)
    return answer._replace(data={**answer.data, "broken": others}, exit=NO if others else OK, warnings=warnings)


def _open(shelved: Shelved, who: str | None, query: str | None) -> Answer:
    """The task that is next, or that `who` has claimed just now; what `query` names, if it is given."""
    home, ref, plan = shelved.home, shelved.ref, shelved.plan
    assert plan is not None
    found = ahead(home, ref, plan, who)
    if query is not None:
        wanted = find_task(plan, query)[0]
        found = found._replace(task=next((each for each in found.taken if each["id"] == wanted), found.task))
    elif who is not None and not found.is_yours:
        found = found._replace(task=None)
    execution = standing.known(shelved)
    advice = advise(shelved, found, execution)
    run = standing.unfinished(execution)
    if found.task is None:
        lines = ["every open task is claimed" if found.taken else "no open task" if plan.tasks else "no task yet"]
    else:
        until = f", yours, in progress until {found.task['until']}" if found.is_yours else ""
        lines = [f"{task_line(found.task)} in {ref.id}{until}"]
    lines += [standing.run_words(run)] if run is not None else [advice.why] if advice.why else []
    lines += [claim_line(each) for each in found.others]
    data = {**plan_json(shelved), "task": found.task, "taken": found.taken, "run": run}
    work = advice.work
    if work is not None and work.task is not None:
        work = work._replace(what="do it")
    return Answer(data, one_per_line(lines), next=advice.commands, work=work)


def _check_flags(claim: str | None, task: str | None, time: str | None, release: str | None, to: str | None) -> None:
    """Stop on options that do not go together; raises ExecplanError."""
    what = ""
    if claim is not None and release is not None:
        what = "--claim and --release exclude each other"
    elif to is not None and release is None:
        what = "--to goes with --release"
    elif time is not None and claim is None and to is None:
        what = "--for goes with --claim"
    elif task is not None and claim is None and release is None:
        what = "--task goes with --claim or --release"
    if what:
        raise ExecplanError("usage", what, exit=USAGE, hint="execplan next --claim NAME --for 30m")


def _found(plan: str | None) -> tuple[Shelved | None, list[str]]:
    """The plan that is meant, None where there are none, and the ids of broken ones beside it; raises ExecplanError."""
    if plan is not None or pick.from_environment():
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
