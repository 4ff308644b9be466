"""The `execplan overlaps` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.team.dependencies.plan_overlaps import PlanOverlaps


@define_command(
    reads="the open plans, including those of nested projects.",
    writes="the index of many plans in the git directory; nothing else.",
    examples=("execplan overlaps", "execplan overlaps --check", "execplan overlaps -p parser --json"),
    may_page=True,
)
@click.option("-p", "--plan", metavar="PLAN", help="Only files that this plan names. Default: all open plans.")
@click.option("--check", "is_check", is_flag=True, help="Exit 1 if there are overlaps.")
def overlaps(call: Call, plan: str | None, *, is_check: bool) -> Answer:
    """Find open plans that name the same files.

    Two agents that work on such plans at the same time will collide. Files are those in code spans outside the logs, as
    in `src/reader.py`; plans, artifacts, and files that everybody reads, such as README.md, don't count. A new file
    counts if its directory exists. Plans of which one waits for the other are not reported: they can't be in progress
    together. To order two plans: execplan set PLAN --meta depends_on=OTHER.
    """
    from execplan.team.dependencies.plan_overlaps import find_overlaps
    from execplan.team.dependencies.plan_resolver import PlanResolver

    project = project_discovery.require(os.getcwd())
    result = find_overlaps(project, PlanResolver(project))
    if plan is not None:
        plan_project, ref = plan_selection.select_plan(os.getcwd(), plan)
        path = plan_project.display_path(ref.path)
        chosen = [overlap for overlap in result.overlaps if path in [naming.path for naming in overlap.plans]]
        result = result._replace(overlaps=tuple(chosen))
    data = {
        "overlaps": [overlap.to_json() for overlap in result.overlaps],
        "ordered": [list(pair) for pair in result.ordered],
        "plans": result.plan_count,
    }
    exit_ = CHECK_FAILED if is_check and result.overlaps else OK
    warnings = tuple([f"not compared: {path} can't be read; see execplan lint" for path in result.unreadable])
    return Answer(data, _overlaps_text(result), exit_, warnings)


def _overlaps_text(result: PlanOverlaps) -> str:
    """Return each file with the plans that name it, and how many pairs of plans are ordered."""
    lines: list[str] = []
    for overlap in result.overlaps:
        lines.append(overlap.file)
        lines += [f"  {naming.path}:{naming.line}" for naming in overlap.plans]
    if not lines:
        lines.append(f"no overlaps in {format_count(result.plan_count, 'open plan')}")
    if result.ordered:
        lines.append(
            f"not reported: {format_count(len(result.ordered), 'pair')} of plans where one waits for the other"
        )
    return printable_lines(lines)
