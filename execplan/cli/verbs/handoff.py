"""`execplan handoff`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.verb import verb
from execplan.repo import pick


@verb(
    reads="the plan, what it compiles to, its approvals, and the journal of the agent's run.",
    writes="nothing.",
    examples=("execplan handoff", "execplan handoff parser", "execplan handoff parser --json"),
)
@click.argument("plan", required=False)
def handoff(call: Call, plan: str | None) -> Answer:
    """Print a plan for an agent that is to carry it out: why, each step, how it stands, what is up next, how to report.

    The text is for a model: what comes from the repository is fenced, without secrets, and said to be data. Nothing is
    begun by it: the run begins with the first call that the guard allows, or with the first report.
    """
    from execplan.cli.handing import text
    from execplan.engine.agent.handoff import handoff as engine

    home, ref = pick.open_plan(os.getcwd(), plan)
    found = engine(home, ref)
    return Answer(found.told, text(found), next=found.next)


command = handoff
