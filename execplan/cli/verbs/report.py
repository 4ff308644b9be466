"""`execplan report`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.plan_name import plan_option
from execplan.cli.verb import new_options, define_command
from execplan.cli.words import read_text

if TYPE_CHECKING:
    from execplan.repo.amend import WriteOptions


@define_command(
    reads="the execution plan and its approval; the journal of the agent's run; what the step says that it writes; the evidence.",
    writes="the run's journal, transcripts and record, the ledger, the tick of the task; when it is the first word of a run, all "
    "that begins one. --dry-run: nothing.",
    examples=(
        "execplan report build -p parser --status completed --result 'It builds.'",
        "execplan report 2 -p parser --status completed --result 'All pass.' --evidence out.txt",
        "execplan report build -p parser --status completed --result 'It builds.' --dry-run",
    ),
)
@click.argument("step", metavar="STEP")
@plan_option
@click.option("--status", type=click.Choice(("completed", "failed")), required=True, help="What became of it.")
@click.option("--result", metavar="WORDS", required=True, help="In words; @FILE and - as for all words.")
@click.option("--evidence", metavar="FILE", help="The output that was seen: a file of the repository, or - .")
@new_options
def report(
    call: Call, step: str, *, plan: str | None, status: str, result: str, evidence: str | None, options: WriteOptions
) -> Answer:
    """Record what became of a step that an agent has done, by its id or number: checked, ticked, and what follows said.

    What it should have written must be there as planned, the evidence must be what was expected, and its test must pass: a
    check that fails makes the step failed, whatever was said. Exit 1 when it has failed, 3 when it is not its turn, 4 when
    something has changed underneath, 7 when nobody has approved it, 8 when a person is to answer first.
    """
    from execplan.cli import reporting
    from execplan.engine.agent import report as engine
    from execplan.engine.plan_choice import choose_plan_with_run
    from execplan.repo import author

    project, ref = choose_plan_with_run(os.getcwd(), plan, or_approved=True)
    agent_report = engine.StepReport(status, read_text(result, "the result"), reporting.read_evidence(project, evidence), author.session_id() or "")
    reported = engine.report(project, ref, step, agent_report, options)
    return reporting.report_answer(project, ref, reported, dry_run=options.dry_run)


command = report
