"""Report of `lint` findings, shared by the fast path without click and the commands."""

from __future__ import annotations

import os
import sys

from execplan.cli.error_handler import printable_line
from execplan.cli.output.progress_bar import ProgressBar
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan import outline
from execplan.core.plan.model import DOCUMENT
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery, user_settings
from execplan.core.text.message_parts import format_count, join_first, quote
from execplan.linter.checking.check_targets import iter_targets, resolve_target_groups
from execplan.linter.checking.plan_check import CheckOptions, check_plan, may_differ_from_head
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.rule import CONFLICT_CODE, LEVELS, SAFE
from execplan.linter.rule_selection import levels_at_least
from execplan.linter.rules.completeness_rules import MISSING_MESSAGE, PLACEHOLDER_MESSAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.linter.checking.batch_check import MakeReport
    from execplan.linter.checking.check_targets import TargetGroup
    from execplan.linter.checking.plan_check import CheckedFile
    from execplan.linter.finding_summary import FindingReport
    from execplan.linter.rule import Finding

_CODES_WITH_QUOTED_COMMAND: Final = ("EP201", "EP215", "EP503", "EP512")
"""Rules whose messages have the command; messages of others may quote a command from the plan's text."""
_CODES_WITH_COMMAND: Final = (*_CODES_WITH_QUOTED_COMMAND, CONFLICT_CODE, "EP103", "EP104", "EP109", "EP501", "EP502")
_ACTIONS_IN_ARCHIVE: Final = {CONFLICT_CODE: "merge", "EP502": "restore"}
"""What helps with a finding in an archived plan, by the code."""
_MAX_SKIPPED_NAMED = 5
"""Maximum number of skipped files that a notice names."""


def help_command(checked: CheckedFile, finding: Finding) -> str:
    """Return the command that fixes a finding or resolves conflicts, or else explains its rule."""
    has_command = finding.code in _CODES_WITH_COMMAND or (finding.fix is not None and finding.fix.kind == SAFE)
    return (_fixing_command(checked.display_name, finding) if has_command else "") or f"execplan explain {finding.code}"


def _fixing_command(display_name: str, finding: Finding) -> str:
    """Return the command that fixes a finding, perhaps one that its message has.

    It is empty if there is none, for what is no file, and for what is archived and is not to be edited there.
    """
    path = os.path.abspath(display_name)
    project = project_discovery.find_for_file(path)
    if not os.path.exists(path):
        return ""
    archived_ref = plan_store.ref_for_path(project, path)
    if archived_ref.archived:
        action = _ACTIONS_IN_ARCHIVE.get(finding.code)
        return f"execplan {action} {plan_store.name_in_commands(project, archived_ref)}" if action else ""
    if finding.code in _CODES_WITH_QUOTED_COMMAND:
        _, is_quoted, quoted = finding.message.partition("`execplan ")
        return f"execplan {quoted.partition('`')[0] if is_quoted else finding.message.rpartition(': execplan ')[2]}"
    ref = next((ref for ref in plan_store.refs(project) if ref.path == path), None)
    if ref is None and plan_store.load(project, plan_store.ref_for_path(project, path)).state == DOCUMENT:
        return f"execplan new --from {quote(display_name)}"
    plan = quote(display_name) if ref is None else plan_store.name_in_commands(project, ref)
    section, is_unfilled, _ = finding.message.partition(PLACEHOLDER_MESSAGE)
    if finding.code == CONFLICT_CODE:
        return f"execplan merge {plan}"
    if finding.code == "EP109" and is_unfilled:
        from execplan.core.plan_store.hint_reader import fill_command

        return fill_command(section, plan)
    if finding.code == "EP501":
        return f"execplan outcome 'What works now' -p {plan}"
    if finding.code in ("EP103", "EP104"):
        return _create_command(finding.message.removeprefix(MISSING_MESSAGE), plan)
    return f"execplan lint {plan} --fix" if finding.fix is not None and finding.fix.kind == SAFE else ""


def _create_command(section: str, plan: str) -> str:
    """Return the command that adds a section; empty for a section whose heading is only wrong, as its message says."""
    if section not in outline.NAMES:
        return ""
    from execplan.core.plan_store.hint_reader import NEW_TEXT

    text = "None yet." if section in outline.LIVING else NEW_TEXT
    action = "add 'First step'" if section == outline.PROGRESS else f"set {quote(section)} {quote(text)}"
    return f"execplan {action} --create -p {plan}"


def lint_fast(paths: list[str], *, hook: bool) -> int:
    """Lint existing files and directories, or all plans, and return the exit status.

    Returns -1 if a name is not a file, only EXECPLAN_PLAN names a plan, the user has custom rules, or a move was
    interrupted.
    """
    if not all([os.path.lexists(path) for path in paths]) or user_settings.rules():
        return -1
    if not paths and os.environ.get("EXECPLAN_PLAN"):
        return -1
    check_options = CheckOptions(is_hook=hook, trees=RepositoryTrees())
    target_groups = resolve_target_groups(paths, is_hook=hook)
    if any([os.path.lexists(group.project.move_intent_path) for group in target_groups]):
        return -1
    if any([group.project.settings.lint for group in target_groups]):
        from execplan.linter.checking.plan_histories import add_histories

        check_options = add_histories(target_groups, check_options)
    if len(paths) == 1 and not os.path.isdir(paths[0]):
        file_targets = list(iter_targets(target_groups))
        if any([may_differ_from_head(target) for target in file_targets]):
            from execplan.linter.checking.modified_plans import add_committed_plans

            check_options = add_committed_plans(target_groups, check_options)
        checked = [check_plan(target, check_options) for target in file_targets]
    else:
        from execplan.linter.checking.batch_check import check_plans
        from execplan.linter.checking.modified_plans import add_committed_plans

        check_options = add_committed_plans(target_groups, check_options)
        with ProgressBar("lint") as bar:
            make_report = report_maker()
            checked = check_plans(
                target_groups, check_options, with_data=make_report is None, make_report=make_report, tick=bar.tick
            )
    if hook and paths and exit_status(checked):
        from execplan.linter.checking.commit_check import drop_older_findings

        checked = drop_older_findings(list(iter_targets(target_groups)), checked, check_options)
    if not paths:
        from execplan.linter.checking.project_check import check_projects

        checked += check_projects(os.getcwd(), check_options)
    for notice in skip_notices(checked):
        sys.stderr.write(f"execplan: warning: {printable_line(notice)}\n")
    _write_report(checked, target_groups if not (paths or hook) else None)
    return exit_status(checked)


def _write_report(checked: Sequence[CheckedFile], groups: Sequence[TargetGroup] | None) -> None:
    """Write the findings, a summary and the next commands; without findings nothing is imported.

    With the groups of all plans, a long report is an overview.
    """
    summary_lines, next_commands = [summarize_findings(checked)], help_commands(checked)
    if any([checked_file.findings for checked_file in checked]):
        from execplan.cli.formats import text

        in_full = checked
        if groups is not None:
            from execplan.cli.output.lint_overview import make_overview

            overview = make_overview(groups, checked)
            if overview is not None:
                in_full, next_commands = overview.in_full, overview.next_commands or next_commands
                summary_lines = [*filter(None, [overview.table]), *summary_lines]
        for part in text.iter_printable(in_full):
            sys.stdout.write(part)
        sys.stdout.write("\n" if in_full else "")
    summary_lines += next_lines(next_commands)
    sys.stdout.write("".join([_printable(line) + "\n" for line in summary_lines]))


def next_lines(commands: Sequence[str]) -> list[str]:
    """Return the lines that suggest commands to whoever reads them."""
    if commands and not commands[0].startswith("execplan explain "):  # which everybody may run
        from execplan.core.plan_store import hint_reader

        if hint_reader.is_agent():
            from execplan.cli.plan_hints import denied_commands

            commands = hint_reader.fit_commands(commands, denied_commands())
    return [f"next: {command}" for command in commands]


def skip_notices(checked: Sequence[CheckedFile]) -> tuple[str, ...]:
    """Return a notice about the files that were skipped because they are not plans, or none."""
    skipped = [checked_file.display_name for checked_file in checked if checked_file.was_skipped]
    if not skipped:
        return ()
    if len(skipped) == 1:
        return (f"{skipped[0]} is not a plan and was skipped; to check it anyway, name it: execplan lint FILE",)
    return (f"{len(skipped)} files are not plans and were skipped: {join_first(skipped, _MAX_SKIPPED_NAMED)}",)


def _printable(text: str) -> str:
    """Escape text for printing; plain text needs no import."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from execplan.cli.output.terminal_text import printable_text

    return printable_text(text)


def report_maker() -> MakeReport | None:
    """Return the function that makes the report of a plan, or None on a terminal, whose width a report depends on."""
    return None if sys.stdout.isatty() else _make_report


def _make_report(findings: Sequence[Finding], lines: list[str]) -> FindingReport:
    """Return the report of a plan's findings; only findings import what renders them."""
    from execplan.cli.formats import text

    return text.make_report(findings, lines)


def report_lines(checked: Sequence[CheckedFile]) -> list[str]:
    """Return the findings as text for people; without findings nothing is imported."""
    if not any([checked_file.findings for checked_file in checked]):
        return []
    from execplan.cli.formats import text

    return [text.render(checked)]


def filter_by_level(checked: Sequence[CheckedFile], level: str | None) -> list[CheckedFile]:
    """Return the plans with only the findings of a level or worse."""
    if level is None:
        return list(checked)
    levels = levels_at_least(level)
    return [file.with_findings([finding for finding in file.findings if finding.level in levels]) for file in checked]


def summarize_findings(checked: Sequence[CheckedFile]) -> str:
    """Return the number of findings per level and the number of plans."""
    if all([checked_file.was_skipped for checked_file in checked]):
        return "no plans to check"
    plan_count = len([checked_file for checked_file in checked if checked_file.is_plan])
    older = sum([checked_file.older_count for checked_file in checked])
    plans = format_count(plan_count, "plan")
    left_out = f"; {format_count(older, 'older finding')} left out" if older else ""
    reports = _reports(checked)
    if not reports:
        return f"{plans}, no {'new ' if older else ''}findings{left_out}"
    totals = [sum(counts) for counts in zip(*[report.level_counts for report in reports], strict=True)]
    level_counts = [format_count(total, level) for level, total in zip(LEVELS, totals, strict=True) if total]
    return f"{', '.join(level_counts)} in {plans}{left_out}"


def help_commands(checked: Sequence[CheckedFile]) -> tuple[str, ...]:
    """Return the command that helps with conflict markers, or else with the first error or the first finding."""
    reports = [(checked_file, _report(checked_file)) for checked_file in checked if checked_file.findings]
    if not reports:
        return ()
    from execplan.linter.rule import CONFLICT_CODE

    checked_file, report = min(
        reports, key=lambda pair: (pair[1].first_error != CONFLICT_CODE, not pair[1].first_error)
    )
    code = report.first_error or report.first_code
    return (help_command(checked_file, next(finding for finding in checked_file.findings if finding.code == code)),)


def exit_status(checked: Sequence[CheckedFile]) -> int:
    """Return 1 if a finding reaches the level that fails in its project's profile, otherwise 0."""
    for checked_file in checked:
        if checked_file.findings:
            counts = _report(checked_file).level_counts
            if sum(counts[: len(levels_at_least(checked_file.fail_level))]):
                return CHECK_FAILED
    return OK


def _reports(checked: Sequence[CheckedFile]) -> list[FindingReport]:
    """Return the reports of the plans with findings."""
    return [_report(checked_file) for checked_file in checked if checked_file.findings]


def _report(checked_file: CheckedFile) -> FindingReport:
    """Return the report of a plan with findings, without text if there is none yet."""
    if checked_file.report is not None:
        return checked_file.report
    from execplan.linter.finding_summary import summarize

    return summarize(checked_file.findings)
