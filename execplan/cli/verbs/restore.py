"""`execplan restore`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.links import links_option, rewrite_decider
from execplan.cli.moving import move_answer
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import define_command, writer_options
from execplan.cli.words import read_text
from execplan.repo import pick
from execplan.repo.amend import WriteOptions
from execplan.repo.moving import archive


@define_command(
    reads="the archived plan, and the plans that name it.",
    writes="the paths in plans that name it; a note when it was archived unfinished. Its evidence is removed.",
    examples=("execplan restore parser --dry-run", "execplan restore parser --reason 'CRLF was forgotten.'"),
)
@plan_argument(required=True)
@click.option("--reason", metavar="TEXT", help="Why it is taken back; written into the plan.")
@links_option
@writer_options
def restore(call: Call, plan: str, *, reason: str | None, links: bool | None, options: WriteOptions) -> Answer:
    """Move an archived plan and its artifacts back to where they were."""
    project, ref = pick.select_plan(os.getcwd(), plan)
    why = read_text(reason, "the reason") if reason is not None else None
    moved = archive.restore_plan(project, ref, options, reason=why, confirm_rewrite=rewrite_decider(call, links))
    return move_answer(project, moved, options, "not in the archive", None if links is False else "")


command = restore
