"""The `execplan add` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import create_option, define_command, writer_options
from execplan.cli.option_rules import exclusive, option_rules
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_text
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import USAGE, ExecplanError


@define_command(
    reads="the plan.",
    writes="one item in Progress, formatted like the existing ones.",
    examples=(
        'execplan add "Write the tests"',
        'execplan add "Write the tests" --after 2',
        'execplan add "Read the format" --before 2',
        'execplan add "Write the tests" --under "Milestone 1" -p parser',
        'execplan add "Write the tests" --check "pytest -q tests/reader"',
    ),
)
@click.argument("text")
@click.option("--after", metavar="TASK", help="Add it after this task: number, ID or unique text.")
@click.option("--before", metavar="TASK", help="Add it before this task: number, ID or unique text.")
@click.option("--under", metavar="HEADING", help="Add it after the last task under this subheading of Progress.")
@click.option(
    "--check", metavar="COMMAND", help="The command that shows that the task is done: `done --verify` runs it."
)
@plan_option
@create_option
@writer_options
@option_rules(exclusive("--after", "--before", "--under"))
def add(
    call: Call,
    text: str,
    after: str | None,
    before: str | None,
    under: str | None,
    check: str | None,
    plan: str | None,
    create: bool,
    options: WriteOptions,
) -> Answer:
    """Add a task to a plan.

    The task is added to the section Progress, after the last one by default. Prints the ID of the task. TEXT can be
    @FILE, or - for standard input.
    """
    if check is not None and "\n" in check:
        message = "the command of a check must be one line"
        raise ExecplanError(
            "usage", message, exit=USAGE, hint="put several commands into a script, or join them with &&"
        )
    task = read_text(text, "the task")
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.add(
            project, ref, task, after=after, before=before, under=under, check=check, create=create, options=options
        ),
        options,
        "execplan next {id}",
    )


command = add
