"""The `execplan changes` command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any, Final, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.formats.github import format_annotation
from execplan.cli.option_rules import exclusive, option_rules, requires
from execplan.cli.output.history_output import format_changes
from execplan.cli.output.terminal_layout import LEVEL_STYLES, fit_line, paint
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.rule_options import RuleSettings, rule_options
from execplan.core.errors import CHECK_FAILED, OK, usage_error
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count
from execplan.core.text.pure_paths import is_inside
from execplan.linter.rule import ERROR, LEVELS, WARNING
from execplan.team.github.plan_report import DELETED, PlanReport, count_levels

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


_TEXT, _MARKDOWN, _GITHUB = "text", "markdown", "github"
_NEVER = "never"


class _GithubParts(NamedTuple):
    """Parts of the output for a GitHub workflow."""

    annotations: bool
    summary: bool


@define_command(
    reads=(
        "the plans that differ from where the branch left REV, and their versions at that point; the settings; with "
        "--format github and without --since, the event of the workflow in $GITHUB_EVENT_PATH."
    ),
    writes=(
        "nothing; with --format github, appends to the files in $GITHUB_STEP_SUMMARY and $GITHUB_OUTPUT, if they are set."
    ),
    examples=(
        "execplan changes --since main",
        "execplan changes --since main --format markdown",
        "execplan changes --since main --fail-on warning packages/parser",
        "execplan changes --since HEAD~3 --json",
    ),
    may_page=True,
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--since",
    metavar="REV",
    help="Compare with the commit at which this branch left REV. Default in a GitHub workflow: the base of its event.",
)
@click.option(
    "--fail-on",
    type=click.Choice([ERROR, WARNING, _NEVER]),
    default=ERROR,
    help="Least severe finding for exit status 1. Default: error.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([_TEXT, _MARKDOWN, _GITHUB]),
    default=_TEXT,
    help="Text, markdown for a pull request, or annotations and a summary for a GitHub workflow.",
)
@click.option("--no-annotations", is_flag=True, help="With --format github: print no annotations.")
@click.option("--no-summary", is_flag=True, help="With --format github: write no summary.")
@rule_options
@option_rules(
    exclusive("--json", "--format"),
    *[requires(option, f"--format {_GITHUB}") for option in ("--no-annotations", "--no-summary")],
)
def changes(
    call: Call,
    paths: tuple[str, ...],
    *,
    since: str | None,
    fail_on: str,
    form: str,
    no_annotations: bool,
    no_summary: bool,
    **flags: Any,
) -> Answer:
    """Show and check the plans that a branch changes.

    For each plan that differs from where this branch left REV: tasks that were added or checked off, decisions and
    other entries, changed sections, open questions, and the findings of `lint`. Changes that are not committed count,
    and so do changed review comments. With PATH, only plans in these files or directories. Exits 1 if there is an error
    (see --fail-on).
    """
    from execplan.linter.checking.plan_check import CheckOptions
    from execplan.linter.checking.repository_trees import RepositoryTrees
    from execplan.team.github.plan_report import count_levels, load_reports
    from execplan.team.github.reviewer_summary import format_summary
    from execplan.team.github.workflow_run import MAX_SUMMARY_BYTES

    if since is None and form != _GITHUB:
        message = "specify the branch or commit to compare with: --since REV"
        raise usage_error(message, "see execplan changes --help")
    rule_settings = RuleSettings(**{name: flags[name] for name in RuleSettings._fields})
    check_options = CheckOptions(selection=rule_settings.selection(), trees=RepositoryTrees())
    project = project_discovery.require(os.getcwd())
    commit = _find_base(project, since)
    reports = load_reports(project, commit, check_options, [os.path.abspath(path) for path in paths])
    level_counts = count_levels(reports)
    fails = fail_on != _NEVER and bool(level_counts[ERROR] or (fail_on == WARNING and level_counts[WARNING]))
    status = CHECK_FAILED if fails else OK
    if form == _GITHUB:
        parts = _GithubParts(not no_annotations, not no_summary)
        return Answer({}, _write_github_output(reports, level_counts, parts), status, is_raw=True)
    if form == _MARKDOWN:
        return Answer({}, format_summary(reports, MAX_SUMMARY_BYTES), status, is_raw=True)
    data = {"since": commit, "plans": [report.to_json() for report in reports], "findings": level_counts}
    text = "\n\n".join([part for part in (format_reports(reports), format_totals(reports)) if part])
    next_commands = (f"execplan lint --since {quote(since)}",) if fails and since is not None else ()
    return Answer(data, text, status, next_commands=next_commands)


def _find_base(project: Project, since: str | None) -> str:
    """Return the commit to compare with. Raises ExecplanError if there is none."""
    if since is not None:
        from execplan.core.git.git_history import branch_point
        from execplan.core.git.git_query import require_repository

        require_repository(project)
        return branch_point(project, since)
    from execplan.team.github.workflow_run import find_base_commit

    return find_base_commit(project, os.environ)


def _write_github_output(reports: Sequence[PlanReport], level_counts: dict[str, int], parts: _GithubParts) -> str:
    """Write the runner's files; return the workflow commands to print. Raises ExecplanError if a file can't be written."""
    from execplan.core.text.message_parts import format_count
    from execplan.team.github import workflow_run
    from execplan.team.github.reviewer_summary import format_summary

    if parts.summary:
        summary = format_summary(reports, workflow_run.free_summary_bytes(os.environ))
        workflow_run.write_summary(os.environ, summary)
    outputs = {f"{level}s": count for level, count in level_counts.items()}
    workflow_run.write_outputs(os.environ, {**outputs, "plans": [report.change.path for report in reports]})
    annotations = format_annotations(reports, os.environ.get(workflow_run.WORKSPACE, "")) if parts.annotations else []
    omitted = sum(level_counts.values()) - len(annotations) if parts.annotations else 0
    note = f"{format_count(omitted, 'more finding')}: GitHub shows {MAX_ANNOTATIONS} of each level" if omitted else ""
    return "\n".join([*annotations, *filter(None, [note]), format_totals(reports)])
