"""`execplan archive`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.verb import verb, writer_options
from execplan.cli.words import words
from execplan.errors import USAGE, ExecplanError
from execplan.repo import archive as archiving
from execplan.repo import shelf
from execplan.repo.amend import Options


@verb(
    reads="the plan.",
    writes="nothing new: the plan and its artifacts folder are moved; with --force, the reason as a revision note.",
    examples=("execplan archive parser --dry-run", "execplan archive parser --commit"),
)
@click.argument("plan", required=False)
@click.option("--force", is_flag=True, help="Even with open tasks, no outcome or lint errors; needs --reason.")
@click.option("--reason", metavar="TEXT", help="Why it is archived as it is; written into the plan.")
@writer_options
def archive(call: Call, plan: str | None, force: bool, reason: str | None, options: Options) -> Answer:
    """Move a finished plan and its artifacts into the archive.

    It refuses, with every reason at once, while tasks are open, Outcomes & Retrospective says nothing, or lint finds
    errors.
    """
    if force != (reason is not None):
        missing = "--force needs --reason" if force else "--reason goes with --force"
        hint = "execplan archive --force --reason 'Why it is archived as it is'"
        raise ExecplanError("usage", missing, exit=USAGE, hint=hint)
    home, ref = shelf.open_plan(os.getcwd(), plan)
    why = words(reason, "the reason") if reason is not None else None
    archived = archiving.archive(home, ref, options, reason=why)
    data = {
        "path": archived.path,
        "changed": archived.changed,
        "digest": archived.digest,
        "commit": archived.commit,
        "moves": [{"from": old, "to": new} for old, new in archived.moves],
    }
    if options.dry_run:
        data["diff"] = archived.diff
    if not archived.changed:
        return Answer(data, f"archived already: {archived.path}", wanted=False)
    would = "would move" if options.dry_run else "moved"
    lines = [archived.diff] if archived.diff else []
    lines += [f"{would} {old} to {new}" for old, new in archived.moves]
    if archived.commit:
        lines.append(f"committed {archived.commit[:12]}")
    settled = options.dry_run or archived.commit or home.git is None
    follow = () if settled else (f"execplan commit {typed(archived.path)}",)
    return Answer(data, "\n".join(lines), warnings=archived.warnings, next=follow, wanted=options.dry_run)


command = archive
