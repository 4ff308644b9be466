"""The `execplan split` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_text
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan.",
    writes="a checked-off task and an open one in place of the task.",
    examples=('execplan split 3 --done "Test the reader" --remaining "Test the writers"',),
)
@click.argument("task")
@click.option(
    "--done", metavar="TEXT", required=True, help="The part that is done: text, @FILE, or - for standard input."
)
@click.option(
    "--remaining", metavar="TEXT", required=True, help="The part that remains: text, @FILE, or - for standard input."
)
@plan_option
@writer_options
def split(call: Call, task: str, done: str, remaining: str, plan: str | None, options: WriteOptions) -> Answer:
    """Split a task into a done part and a remaining part.

    Use it if you stop in the middle of a task. The done part is checked off with a timestamp; the remaining part stays
    open and keeps nested tasks. Prints both IDs. A TASK is a number, an ID, or unique text.
    """
    done_text, remaining_text = read_text(done, "the done part"), read_text(remaining, "the remaining part")
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.split(
            project, ref, task, done=done_text, remaining=remaining_text, options=options
        ),
        options,
        "execplan next {id}",
    )


command = split
