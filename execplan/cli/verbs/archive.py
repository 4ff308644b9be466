"""`execplan archive`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.moving import told
from execplan.cli.verb import verb, writer_options
from execplan.cli.words import words
from execplan.errors import USAGE, ExecplanError
from execplan.repo import pick
from execplan.repo.amend import Options
from execplan.repo.moving import archive as archiving


@verb(
    reads="the plan, and the plans that name it.",
    writes="evidence beside the moved artifacts; the paths in plans that name it; a note when it was not finished.",
    examples=(
        "execplan archive parser --dry-run",
        "execplan archive parser --commit",
        "execplan archive parser --as superseded --by scanner",
        "execplan archive parser --force --reason 'No longer wanted.'",
    ),
)
@click.argument("plan", required=False)
@click.option(
    "--as", "how", type=click.Choice(["completed", "superseded"]), default="completed", help="What it is filed as."
)
@click.option("--by", metavar="PLAN", help="The plan that supersedes it.")
@click.option("--force", is_flag=True, help="Even with open tasks, no outcome or lint errors; needs --reason.")
@click.option("--reason", metavar="TEXT", help="Why it is archived as it is; written into the plan.")
@writer_options
def archive(
    call: Call, plan: str | None, how: str, by: str | None, force: bool, reason: str | None, options: Options
) -> Answer:
    """Move a finished plan and its artifacts into the archive, with evidence: digests, counts, commit.

    It refuses, with every reason at once, while tasks are open, Outcomes & Retrospective says nothing, or lint finds
    errors; not so when another plan supersedes it.
    """
    if force != (reason is not None):
        missing = "--force needs --reason" if force else "--reason goes with --force"
        hint = "execplan archive --force --reason 'Why it is archived as it is'"
        raise ExecplanError("usage", missing, exit=USAGE, hint=hint)
    if (how == "superseded") != (by is not None) or (force and by is not None):
        what = "--as superseded needs --by PLAN, --by goes with it, and --force does not"
        raise ExecplanError("usage", what, exit=USAGE, hint="execplan archive PLAN --as superseded --by OTHER")
    home, ref = pick.open_plan(os.getcwd(), plan)
    successor = pick.open_plan(os.getcwd(), by)[1] if by is not None else None
    why = words(reason, "the reason") if reason is not None else None
    return told(
        home, archiving.archive(home, ref, options, reason=why, successor=successor), options, "archived already"
    )


command = archive
