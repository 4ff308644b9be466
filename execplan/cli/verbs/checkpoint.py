"""`execplan checkpoint`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.verb import verb, writer_options
from execplan.errors import NO, ExecplanError
from execplan.repo import pick, shelf
from execplan.repo.amend import Options

if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

NAME = "checkpoint.md"


@verb(
    reads="the plan, its claims, its last run, what git says of the working tree.",
    writes=f"{NAME} among the plan's artifacts, and nothing where it says the same already.",
    examples=("execplan checkpoint", "execplan checkpoint parser --dry-run", "execplan checkpoint parser --commit"),
)
@click.argument("plan", required=False)
@click.option("--force", is_flag=True, help="Also over a page that was edited by hand.")
@writer_options
def checkpoint(call: Call, plan: str | None, force: bool, options: Options) -> Answer:
    """Write the restart page of a plan: from it alone somebody goes on who knows nothing else.

    Objective, what is done and what is next, decisions and discoveries with their reasons, risks, open questions and
    findings, the state of git, and how to go on; in the plan's own words, without secrets. The page is replaced in one
    step, so a reader finds the old one or the new one.
    """
    from execplan.repo.execution import store

    home, ref = pick.open_plan(os.getcwd(), plan)
    stored = store.save(
        home,
        ref,
        lambda: _page(home, ref, options, force=force),
        options,
        verb="checkpoint",
        summary="the restart page",
        name=NAME,
    )
    data = {
        "id": ref.id,
        "path": stored.path,
        "changed": stored.changed,
        "digest": stored.digest,
        "commit": stored.commit,
    }
    if options.dry_run:
        lines = [stored.diff, f"would write {stored.path}"] if stored.changed else ["nothing to write"]
        return Answer({**data, "diff": stored.diff}, "\n".join(lines))
    lines = [
        f"{'written' if stored.changed else 'kept'}  {stored.path}" + ("" if stored.changed else "  (says the same)")
    ]
    lines += [f"committed {stored.commit[:12]}"] if stored.commit else []
    return Answer(data, "\n".join(lines), warnings=stored.warnings, wanted=False)


def _page(home: Home, ref: Ref, options: Options, *, force: bool) -> bytes:
    """The page of now, or the one that is there where it says the same; raises ExecplanError."""
    from execplan.cli.bearings import bearings, redact
    from execplan.clock import utc
    from execplan.context import restart
    from execplan.plan import reader
    from execplan.repo.edits.since import check_match
    from execplan.repo.execution import store
    from execplan.text.files import temporary

    data = shelf.open_bytes(home, ref.path)
    check_match(home, ref, options.if_match, data)
    plan = reader.read(data)
    old, path = store.read(home, ref, NAME), store.path_of(home, ref, NAME)
    if old is not None and not force and not restart.is_ours(old):
        raise ExecplanError(
            "edited-checkpoint",
            f"{home.shown(path)} was edited by hand, or is none of ours; nothing was written",
            exit=NO,
            hint=f"put elsewhere what is to stay, then: execplan checkpoint {ref.typed} --force",
        )
    shelved = shelf.Shelved(home, ref, data, plan, None)
    but = (path, os.path.join(os.path.dirname(path), temporary(NAME)))
    new = restart.page(bearings(shelved, plan, but=but), redact(), utc())
    return old if old is not None and restart.is_ours(old) and restart.is_same(old, new) else new


command = checkpoint
