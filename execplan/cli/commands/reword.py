"""The `execplan reword` command."""

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
    writes="the words of one task; its box, its stamp and what is nested in it stay.",
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
    """Say a task in other words. A TASK is a number, an id, or words that only it has; the id changes with the words."""
    task_text = read_text(text, "the task")
    return edit_plan(plan, lambda plan: plan.reword(task, task_text, options=options), options, "execplan show {id}")


command = reword
