"""The `execplan undo` and `execplan redo` commands."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.output.undo_output import history_answer, require_movable, undo_answer
from execplan.cli.plan_arguments import plan_argument
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.undo import undo_redo


@define_command(
    reads="the journal of edits, and the plan.",
    writes="the state before the last operation; later changes are kept.",
    examples=(
        "execplan undo",
        "execplan undo --list",
        "execplan undo -p parser --dry-run",
        "execplan undo --commit",
    ),
)
@plan_argument(default="the plan of your last operation")
@click.option("--list", "show", is_flag=True, help="List what can be undone and redone, and who did it.")
@click.option("--any", "other_authors", is_flag=True, help="Also undo an operation of another author.")
@writer_options
def undo(call: Call, plan: str | None, show: bool, other_authors: bool, options: WriteOptions) -> Answer:
    """Undo the last operation; run it again for earlier ones.

    Undoes edits, `new`, `drop`, `attach`, `archive`, `restore` and `rename`. Without -p, the command undoes your last operation
    on any plan, and prints the plan's name. It fails if the same lines have changed since. Comments, claims, checkpoints and
    the index are no edits of a plan, so it passes over them.
    """
    if show:
        return history_answer(os.getcwd(), plan)
    return undo_answer(
        undo_redo.undo(os.getcwd(), plan, options, other_authors=other_authors, may_move=require_movable), options
    )


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
