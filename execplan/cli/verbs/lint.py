"""`execplan lint`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.lint import follow, report, status, summary
from execplan.cli.progress import tracked
from execplan.cli.verb import verb
from execplan.errors import USAGE, ExecplanError
from execplan.repo.checking.one import Way, check
from execplan.repo.checking.staged import check_staged
from execplan.repo.checking.targets import targets


@verb(
    reads="the plans or files that are named, every file below a folder; with none, every plan, archived ones too; "
    "with --staged, what git's index holds of the plans that the next commit adds or changes, and nothing on disk.",
    writes="nothing.",
    examples=(
        "execplan lint",
        "execplan lint parser",
        "execplan lint .agent/execplans/*.md",
        "execplan lint --json",
        "execplan lint --staged --hook",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN|FILE]...")
@click.option("--hook", is_flag=True, help="A draft may still hold guidance and no task.")
@click.option("--staged", is_flag=True, help="The plans of the next commit, as they are staged.")
def lint(call: Call, plans: tuple[str, ...], hook: bool, staged: bool) -> Answer:
    """Check plans against the rules; `file:line:col CODE message` for each finding, exit 1 when one is an error."""
    if staged and plans:
        raise ExecplanError("usage", "--staged takes no PLAN", exit=USAGE, hint="leave one of the two out")
    way = Way(hook=hook)
    if staged:
        checked = check_staged(os.getcwd(), way)
    else:
        checked = [check(target, way) for target in tracked(list(targets(plans)), call)]
    findings = [finding.to_json(each.path) for each in checked for finding in each.findings]
    data = {"findings": findings, "plans": len(checked)}
    lines = report(checked)
    if not call.quiet:
        lines.append(summary(checked) if checked else "no plans to check")
    return Answer(data, "\n".join(lines), status(checked), next=follow(checked))


command = lint
