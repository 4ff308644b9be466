"""The `execplan rename` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.output.move_output import links_option, move_answer, rewrite_decider
from execplan.cli.plan_arguments import plan_option
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import usage_error
from execplan.core.plan_store import plan_selection
from execplan.team import plan_moves

_REWRITE = "execplan undo, then the same rename with --rewrite-links"


@define_command(
    reads="the plan, and the plans that refer to it.",
    writes="the title; moves the file and the artifacts directory, and updates the plans that refer to them.",
    examples=(
        "execplan rename parser 'Build the line parser'",
        "execplan rename parser 'Build the line parser' --dry-run",
    ),
)
@click.argument("title", metavar="PLAN TITLE")
@plan_option
@links_option
@writer_options
def rename(call: Call, plan: str | None, title: str, *, links: bool | None, options: WriteOptions) -> Answer:
    """Give a plan a new title and ID.

    The ID is derived from the title; its date or number stays.
    """
    if plan is None:
        raise usage_error("rename requires a plan and its new title", "execplan rename PLAN 'New title'")
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    moved = plan_moves.rename(project, ref, title, options, rewrite_decider(call, links))
    return move_answer(project, moved, options, "already has this name", None if links is False else _REWRITE)
