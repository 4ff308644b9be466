"""`execplan handoff`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import define_command
from execplan.context.budget import MIN_BUDGET
from execplan.errors import USAGE, ExecplanError
from execplan.repo import pick


@define_command(
    reads="the plan, its claims, what it compiles to, its approvals, and the journal of the agent's run.",
    writes="nothing.",
    examples=("execplan handoff", "execplan handoff parser --budget 2000", "execplan handoff parser --json"),
)
@plan_argument()
@click.option("--budget", metavar="N", type=click.IntRange(min=MIN_BUDGET), help="Tokens of the text (default: 4000).")
def handoff(call: Call, plan: str | None, budget: int | None) -> Answer:
    """Print a plan for an agent that carries it out: why, the steps and their status, what is up next, how to report.

    A plan without written steps is handed over by its open tasks. The text is for a model: what comes from the repository
    is fenced, without secrets, and marked as data. To fit the budget, steps that are done, old decisions and later steps
    are shortened; the step that is up next never is. The command starts nothing: the run begins with the first call that
    the guard allows, or with the first report.
    """
    if call.as_json and budget is not None:
        message = "--budget is for the text; --json prints everything"
        raise ExecplanError("usage", message, exit=USAGE, hint="leave one of them out")
    from execplan.cli.handing import handoff_text
    from execplan.engine.agent.handoff import handoff as engine

    project, ref = pick.select_plan(os.getcwd(), plan)
    agent_handoff = engine(project, ref)
    return Answer(agent_handoff.payload, "" if call.as_json else handoff_text(agent_handoff, budget), next_commands=agent_handoff.next_commands)


command = handoff
