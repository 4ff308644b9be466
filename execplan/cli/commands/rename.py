"""`execplan rename`."""

from __future__ import annotations

import os
from functools import partial

import click

from execplan.advice import checkpoint_file
from execplan.approvals import artifact_store
from execplan.archive import plan_relocation
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.link_options import links_option, rewrite_decider
from execplan.cli.output.move_output import move_answer
from execplan.cli.plan_arguments import plan_option
from execplan.edits.plan_writer import WriteOptions
from execplan.engine.run_records.run_statuses import ensure_no_open_runs
from execplan.errors import USAGE, ExecplanError
from execplan.plan_store import plan_selection


@define_command(
    reads="the plan, and the plans that name it.",
    writes="the title; the file and the artifacts folder are moved, and the plans that name them follow.",
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
    """Give a plan another title, and the id that comes of it; its date or its number stays."""
    if plan is None:
        raise ExecplanError(
            "usage", "rename takes a plan and its new title", exit=USAGE, hint="execplan rename PLAN 'Its new title'"
        )
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    ensure_no_open_runs(project, ref, "renamed")
    compiled = os.path.lexists(artifact_store.path_of(project, ref))
    renew = partial(checkpoint_file.renew_page, project, commits=options.should_commit(project))
    moved = plan_relocation.rename_plan(
        project, ref, title, options, regenerate=renew, confirm_rewrite=rewrite_decider(call, links)
    )
    if compiled and moved.changed:
        why = f"what {ref.id} was compiled to, and what approves it, name it by its old title: compile and approve it anew"
        moved = moved._replace(warnings=(*moved.warnings, why))
    return move_answer(project, moved, options, "named so already", None if links is False else "")


command = rename
