"""`execplan rename`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.moving import told
from execplan.cli.verb import verb, writer_options
from execplan.repo import pick
from execplan.repo.amend import Options
from execplan.repo.execution import store
from execplan.repo.moving import rename as renaming


@verb(
    reads="the plan, and the plans that name it.",
    writes="the title; the file and the artifacts folder are moved, and the plans that name them follow.",
    examples=(
        "execplan rename parser 'Build the line parser'",
        "execplan rename parser 'Build the line parser' --dry-run",
    ),
)
@click.argument("plan")
@click.argument("title")
@writer_options
def rename(call: Call, plan: str, title: str, options: Options) -> Answer:
    """Give a plan another title, and the id that comes of it; its date or its number stays."""
    home, ref = pick.open_plan(os.getcwd(), plan)
    compiled = os.path.lexists(store.path_of(home, ref))
    moved = renaming.rename(home, ref, title, options)
    if compiled and moved.changed:
        why = f"what {ref.id} was compiled to, and what approves it, name it by its old title: compile and approve it anew"
        moved = moved._replace(warnings=(*moved.warnings, why))
    return told(home, moved, options, "named so already")


command = rename
