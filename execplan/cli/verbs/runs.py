"""`execplan runs`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, quote_plan_name
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import define_command
from execplan.engine.runs import STATES
from execplan.repo import homes, pick, shelf


@define_command(
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
    from execplan.cli.running.listing import runs_answer
    from execplan.engine.runs import list_readable_runs

    if plan is not None or pick.plan_from_environment() is not None:
        project, ref = pick.select_plan(os.getcwd(), plan)
        summaries, broken = list_readable_runs(project, [ref])
        return runs_answer(summaries, broken, quote_plan_name(ref.id, project.display_path(ref.path)), state)
    project = homes.require(os.getcwd())
    summaries, broken = [], []
    for member_project in homes.with_nested_projects(project):
        project_summaries, unreadable = list_readable_runs(member_project, shelf.all_refs(member_project))
        summaries += project_summaries
        broken += unreadable
    return runs_answer(summaries, broken, None, state)


command = runs
