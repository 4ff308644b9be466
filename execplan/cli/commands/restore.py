"""The `execplan restore` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.output.move_output import links_option, move_answer, rewrite_decider
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.text_input import read_text
from execplan.core.archive import plan_archive
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan_store import plan_selection, plan_store


@define_command(
    reads="the archived plan, and the plans that refer to it.",
    writes="the paths in plans that refer to it; a note if it was archived unfinished. Removes its archive evidence.",
    examples=("execplan restore parser --dry-run", "execplan restore parser --reason 'CRLF was forgotten.'"),
)
@plan_argument(required=True)
@click.option("--reason", metavar="TEXT", help="Why it is restored; written into the plan.")
@links_option
@writer_options
def restore(call: Call, plan: str, *, reason: str | None, links: bool | None, options: WriteOptions) -> Answer:
    """Restore a plan from the archive.

    The plan and its artifacts are moved back to the plans directory.
    """
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    moved = plan_archive.restore_plan(
        project,
        ref,
        options,
        reason=read_text(reason, "the reason") if reason is not None else None,
        confirm_rewrite=rewrite_decider(call, links),
    )
    restored = plan_store.ref_for_path(project, os.path.join(project.root, moved.path))
    command = f"execplan restore {plan_store.name_in_commands(project, restored)} --rewrite-links"
    answer = move_answer(project, moved, options, "not in the archive", None if links is False else command)
    return (
        answer if moved.changed or ref.archived else answer._replace(next_commands=("execplan list --state archived",))
    )
