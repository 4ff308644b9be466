"""The `execplan drop` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.plan_editing import edit_answer
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan_store import plan_selection
from execplan.core.undo.plan_removal import drop_plan
from execplan.execution.engine.run_records.finishing_commands import ensure_no_open_runs


@define_command(
    reads="the plan, its journal, and whether it is in git.",
    writes="deletes the plan and its empty artifacts directory; the journal keeps the text.",
    examples=("execplan drop parser --dry-run", "execplan drop parser", "execplan drop parser --force"),
)
@plan_argument()
@click.option("--force", is_flag=True, help="Remove it even if somebody has worked on it; undo restores it.")
@writer_options
def drop(call: Call, plan: str | None, force: bool, options: WriteOptions) -> Answer:
    """Remove a draft that nobody has worked on.

    Use it if you created a plan by mistake. A committed plan can't be dropped. `undo` restores a dropped plan. To drop
    only a task, mark it `[-]` in the plan.
    """
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    ensure_no_open_runs(project, ref, "dropped")
    return edit_answer(drop_plan(project, ref, options, force=force), options, "execplan list")
