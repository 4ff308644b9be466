"""Output of `changes`: the changed plans for people, and annotations within the limits of GitHub."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.cli.formats.github import format_annotation
from execplan.cli.output.history_output import format_changes
from execplan.cli.output.terminal_layout import LEVEL_STYLES, fit_line, paint
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.text.message_parts import format_count
from execplan.core.text.pure_paths import is_inside
from execplan.linter.rule import LEVELS
from execplan.team.github.plan_report import DELETED, count_levels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

    from execplan.team.github.plan_report import PlanReport

MAX_ANNOTATIONS: Final = 10
"""Maximum number of annotations of each level that GitHub shows for a step."""


def format_annotations(reports: Sequence[PlanReport], workspace: str) -> list[str]:
    """Return workflow commands for the findings, errors first, and as many of each level as GitHub shows.

    GitHub expects paths from the workspace, in which the repository may be a subdirectory.
    """
    lines = []
    for level in LEVELS:
        annotations = [
            format_annotation(_workspace_path(report, workspace), finding)
            for report in reports
            for finding in report.findings
            if finding.level == level
        ]
        lines += annotations[:MAX_ANNOTATIONS]
    return lines


def _workspace_path(report: PlanReport, workspace: str) -> str:
    path, real_workspace = report.change.ref.path, os.path.realpath(workspace)
    if workspace and is_inside(path, real_workspace):
        return os.path.relpath(path, real_workspace)
    return report.change.path


def format_reports(reports: Sequence[PlanReport]) -> str:
    """Return the changed plans as text for people, each with its changes, open questions and findings."""
    return "\n\n".join(["\n".join(_report_lines(report)) for report in reports])


def format_totals(reports: Sequence[PlanReport]) -> str:
    """Return the number of plans and of findings at each level, as in `2 plans changed; 1 error, 2 warnings`."""
    if not reports:
        return "no plan was changed"
    counts = [format_count(count, level) for level, count in count_levels(reports).items() if count]
    return f"{format_count(len(reports), 'plan')} changed; {', '.join(counts) or 'no findings'}"


def _report_lines(report: PlanReport) -> Iterator[str]:
    counts = report.counts
    progress = f", {counts['done']} of {format_count(counts['total'], 'task')} done" if counts else ""
    state = "" if report.state == DELETED else f"  {report.state}{progress}"
    yield paint(printable_lines([report.change.ref.id]), "bold") + state
    yield from format_changes(report.change.events)
    for question in report.questions:
        text = printable_lines([f"{question.heading}: {' '.join(question.text.split())}"])
        yield from fit_line(f"  question   {text}", indent=13)
    for placed in report.comments:
        text = printable_lines([f"{placed.label}: {' '.join(placed.thread.comment.text.split())}"])
        yield from fit_line(f"  comment    {text}", indent=13)
    for finding in report.findings:
        level = paint(f"{finding.level:9}", LEVEL_STYLES[finding.level])
        text = printable_lines([f"{finding.code} line {finding.line}: {finding.message}"])
        first, *rest = fit_line(f"  {finding.level:9}  {text}", indent=13)
        yield first.replace(f"{finding.level:9}", level, 1)
        yield from rest
