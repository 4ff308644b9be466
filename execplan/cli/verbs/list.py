"""`execplan list`."""

from __future__ import annotations

import os

import click

from execplan.cli import standing
from execplan.cli.answer import Answer, Call, typed
from execplan.cli.shape import conflict_warnings, follow_none, none_open, plan_json
from execplan.cli.table import table
from execplan.cli.verb import verb
from execplan.errors import NO, OK
from execplan.plan.model import BROKEN
from execplan.repo import homes, shelf


@verb(
    reads="every plan outside the archive, with those of `homes` in the settings; with --all, the archived ones too; execution plans and approvals.",
    writes="nothing.",
    examples=("execplan list", "execplan list --all --json"),
)
@click.option("--all", "everything", is_flag=True, help="With the archive.")
def list_(call: Call, everything: bool) -> Answer:
    """Print a line for each plan: its state, how many of its tasks are done, its id and its title."""
    home = homes.require(os.getcwd())
    shelved = shelf.load_together(home, archive=everything)
    plans = [{**plan_json(each), "execution": standing.told(each)} for each in shelved]
    name = "path" if len({each.home.base for each in shelved}) > 1 else "id"
    broken = [each for each in plans if each["state"] == BROKEN]
    rows = [
        (
            each["state"],
            f"{each['counts']['done']}/{each['counts']['total']}",
            each[name],
            (each["title"] or "(no title)") + standing.mark(each["execution"]),
        )
        if each["counts"]
        else (each["state"], "-", each[name], each["error"])
        for each in plans
    ]
    text = table(("state", "done", name, "title"), rows) if rows else none_open(home)
    follow = follow_none(home) if not plans else (f"execplan lint {typed(broken[0]['path'])}",) if broken else ()
    warnings = conflict_warnings(shelved)
    return Answer({"plans": plans}, text, NO if broken else OK, warnings=warnings, next=follow)


command = list_
