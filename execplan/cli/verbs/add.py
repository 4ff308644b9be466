"""`execplan add`."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.verb import create_option, plan_option, verb, writer_options
from execplan.cli.words import words
from execplan.cli.writing import write
from execplan.clock import now
from execplan.errors import USAGE, ExecplanError
from execplan.plan import tasks
from execplan.repo.amend import Options


@verb(
    reads="the plan.",
    writes="one item in Progress, shaped like its neighbours.",
    examples=(
        'execplan add "Write the tests"',
        'execplan add "Write the tests" --after 2',
        'execplan add "Write the tests" --under "Milestone 1" -p parser',
    ),
)
@click.argument("text")
@click.option("--after", metavar="TASK", help="Behind this task: number, id or unique words.")
@click.option("--under", metavar="HEADING", help="Behind the last task under this sub-heading of Progress.")
@plan_option
@create_option
@writer_options
def add(
    call: Call, text: str, after: str | None, under: str | None, plan: str | None, create: bool, options: Options
) -> Answer:
    """Add an open task, behind the last one unless told where. TEXT may be @FILE, or - for standard input."""
    if after is not None and under is not None:
        raise ExecplanError("usage", "--after and --under exclude each other", exit=USAGE, hint="give one of them")
    task = words(text, "the task")
    changer = tasks.add(task, now(), after=after, under=under, create=create)
    return write(call, plan, options, "add", lambda home: changer, "execplan next {id}")


command = add
