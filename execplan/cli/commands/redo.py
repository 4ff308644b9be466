"""The `execplan redo` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.output.undo_output import require_movable, undo_answer
from execplan.cli.plan_arguments import plan_argument
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.undo import undo_redo


@define_command(
    reads="the journal of edits, and the plan.",
    writes="the changes of the last undone operation.",
    examples=("execplan redo", "execplan redo -p parser --dry-run", "execplan redo --commit"),
)
@plan_argument(default="the plan of your last operation")
@click.option("--any", "other_authors", is_flag=True, help="Also redo operations that another author undid.")
@writer_options
def redo(call: Call, plan: str | None, other_authors: bool, options: WriteOptions) -> Answer:
    """Redo the last undone operation; run it again for earlier ones.

    Without -p, the command redoes your last undo on any plan, and prints the plan's name. After a new operation on the
    plan, earlier undos can't be redone.
    """
    return undo_answer(
        undo_redo.redo(os.getcwd(), plan, options, other_authors=other_authors, may_move=require_movable), options
    )


command = redo
