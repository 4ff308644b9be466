"""The `execplan split` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_text
from execplan.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan.",
    writes="a ticked task and an open one in the place of the task.",
    examples=('execplan split 3 --done "Write the tests of the reader" --remaining "Write the tests of the writers"',),
)
@click.argument("task")
@click.option("--done", metavar="TEXT", required=True, help="What is done of it; @FILE and - are read.")
@click.option("--remaining", metavar="TEXT", required=True, help="What is left of it; @FILE and - are read.")
@plan_option
@writer_options
def split(call: Call, task: str, done: str, remaining: str, plan: str | None, options: WriteOptions) -> Answer:
    """Split a half-done task into what is done, ticked with the time, and what remains, still open; print both ids.

    A TASK is a number, an id, or words that only it has. Tasks that are nested in it stay with what remains.
    """
    done_text, remaining_text = read_text(done, "what is done"), read_text(remaining, "what remains")
    return edit_plan(
        plan,
        lambda plan: plan.split(task, done=done_text, remaining=remaining_text, options=options),
        options,
        "execplan next {id}",
    )


command = split
