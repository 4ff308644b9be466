"""The `execplan reword` command."""

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
    writes="the text of one task; its checkbox, its timestamp and its nested content stay.",
    examples=(
        'execplan reword 3 "Write the tests of the reader"',
        'execplan reword "the tests" "Write all tests" -p parser',
    ),
)
@click.argument("task")
@click.argument("text")
@plan_option
@writer_options
def reword(call: Call, task: str, text: str, plan: str | None, options: WriteOptions) -> Answer:
    """Change the text of a task.

    A TASK is a number, an ID, or unique text. The ID changes with the text.
    """
    task_text = read_text(text, "the task")
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.reword(project, ref, task, task_text, options),
        options,
        "execplan show {id}",
    )


command = reword
