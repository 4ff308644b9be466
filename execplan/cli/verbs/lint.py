"""`execplan lint`."""

from __future__ import annotations

import os
from typing import Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.output import Output, output_options
from execplan.cli.progress import tracked
from execplan.cli.verb import verb
from execplan.repo.checking.handed import STDIN
from execplan.repo.checking.one import Way, check
from execplan.repo.checking.staged import check_staged
from execplan.repo.checking.targets import targets


@verb(
    reads="the plans or files that are named, every file below a folder; with none, every plan, archived ones too; "
    "with --staged, what git's index holds of the plans that the next commit adds or changes, and nothing on disk; "
    "with -, standard input; the baseline.",
    writes="the baseline, with --write-baseline; else nothing.",
    examples=(
        "execplan lint",
        "execplan lint parser",
        "execplan lint .agent/execplans/*.md",
        "execplan lint --json",
        "execplan lint --staged --hook",
        "execplan lint --format sarif",
        "execplan lint --statistics",
        "execplan lint --write-baseline",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN|FILE|-]...")
@click.option("--hook", is_flag=True, help="A draft may still hold guidance and no task.")
@click.option("--staged", is_flag=True, help="The plans of the next commit, as they are staged.")
@output_options
def lint(call: Call, plans: tuple[str, ...], hook: bool, staged: bool, **asked: Any) -> Answer:
    """Check plans against the rules; `file:line:col CODE message` for each finding, exit 1 when one is an error."""
    output = Output(**asked)
    output.check(call, plans, staged=staged)
    way = Way(hook=hook)
    if staged:
        checked = check_staged(os.getcwd(), way)
    elif plans == (STDIN,):
        checked = output.check_stdin(way)
    else:
        checked = [check(target, way) for target in tracked(list(targets(plans)), call)]
    return output.answer(call, checked, way)


command = lint
