"""The `execplan reopen` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan.",
    writes="the checkbox of each task, or its status; removes its timestamp.",
    examples=("execplan reopen 3", 'execplan reopen "write the tests" -p parser'),
)
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@plan_option
@writer_options
def reopen(call: Call, tasks: tuple[str, ...], plan: str | None, options: WriteOptions) -> Answer:
    """Uncheck tasks.

    Use it if a task that was checked off is not done after all. A TASK is a number, several numbers as in 1-3 or 1,2,5, an ID, or unique text.
    """
    return edit_plan(
        plan, lambda project, ref: plan_updates.reopen(project, ref, tasks, options), options, "execplan next {id}"
    )


command = reopen
