"""`execplan runs`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import verb
from execplan.engine.runs import STATES
from execplan.repo import homes, pick, shelf


@verb(
    reads="the journals of the runs: those of a plan, else those of all plans, archived ones too.",
    writes="nothing.",
    examples=("execplan runs", "execplan runs parser", "execplan runs --state failed --json"),
)
@plan_argument()
@click.option("--state", type=click.Choice(STATES), help="Only these.")
def runs(call: Call, plan: str | None, *, state: str | None) -> Answer:
    """Print a line for each run: how it stands, when it was begun, what it took, what it waits for.

    Exit 1 when one of them can't be read.
    """
    from execplan.cli.running.listing import listed
    from execplan.engine.runs import list_readable_runs

    if plan is not None or pick.from_environment() is not None:
        home, ref = pick.open_plan(os.getcwd(), plan)
        found, broken = list_readable_runs(home, [ref])
        return listed(found, broken, typed(ref.id, home.shown(ref.path)), state)
    home = homes.require(os.getcwd())
    found, broken = [], []
    for one in homes.together(home):
        more, others = list_readable_runs(one, shelf.every(one))
        found += more
        broken += others
    return listed(found, broken, None, state)


command = runs
