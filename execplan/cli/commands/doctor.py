"""The `execplan doctor` command."""

from __future__ import annotations

import os
from typing import Any

import click

from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.doctor.doctor_check import DoctorFinding, JointFinding
from execplan.cli.doctor.doctor_runner import (
    DoctorCheckResult,
    DoctorFixOutcome,
    apply_fixes,
    preview_fixes,
    run_checks,
)
from execplan.cli.option_rules import excludes, option_rules, requires
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.output.text_table import format_table
from execplan.core.edits import lost_edit_recovery
from execplan.core.edits.lost_edits import detect_lost_edits
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan_store import plan_selection
from execplan.core.text.message_parts import format_count, join_first

_WRITING_OPTIONS = ("--fix", "--restore", "--forget")


@define_command(
    reads=(
        "the project and its nested projects: settings, plans, artifacts, the edit journal, and what integrations "
        "have added; git's history, if an edit is missing or with --stale."
    ),
    writes=(
        "the index of many plans in the git directory; with --fix, what can be fixed safely: directories, blocks, hooks "
        "and leftovers; with --restore, the plan; with --restore and --forget, the journal."
    ),
    examples=(
        "execplan doctor",
        "execplan doctor --fix --dry-run",
        "execplan doctor --fix",
        "execplan doctor --stale",
        "execplan doctor --json",
    ),
    finishes_moves=False,  # it reports an interrupted move
)
@click.option("--fix", is_flag=True, help="Fix what can be fixed safely.")
@click.option("--stale", is_flag=True, help="Only list plans that are not what they say, with the evidence in git.")
@click.option("--restore", metavar="PLAN", help="Restore this plan's edits that another program has overwritten.")
@click.option(
    "--forget",
    metavar="PLAN",
    help="Stop reporting this plan's overwritten edits, because they were removed on purpose.",
)
@new_options
@option_rules(
    excludes("--stale", *_WRITING_OPTIONS),
    requires("--dry-run", *_WRITING_OPTIONS),
    requires("--commit", *_WRITING_OPTIONS),
)
def doctor(
    call: Call, options: WriteOptions, *, fix: bool, stale: bool, restore: str | None, forget: str | None
) -> Answer:
    """Diagnose and fix problems of a project.

    Use it if something looks wrong, or after a crash or an interrupted operation. Each problem is listed with its fix.
    Exits 1 if there are problems.

    With --stale, lists every plan that is not what it says, with the commands that settle it: complete plans that are
    not archived, open tasks whose pull request is merged or whose files exist, status lines that contradict the tasks,
    files that the plan describes and that have changed since, and plans on which nobody works. Git's history is the
    evidence; no network is used.
    """
    forgotten = _forget_overwritten(forget, options) if forget is not None else []
    directory = os.getcwd()
    applied_fixes: list[DoctorFixOutcome] = []
    refused: list[str] = []
    if restore is not None:
        applied_fixes = _restore_overwritten(restore, options)
    if fix and not options.dry_run:
        fixes, refused = apply_fixes(directory, _completion_script, options)
        applied_fixes += fixes
    checked = run_checks(directory, _completion_script, only_stale=stale)
    if fix and options.dry_run:
        applied_fixes += preview_fixes(checked)
    return _doctor_answer(call, checked, applied_fixes, forgotten, refused, dry_run=options.dry_run, fix=fix)


def _restore_overwritten(name: str, options: WriteOptions) -> list[DoctorFixOutcome]:
    """Restore the overwritten edits of a plan. Raises ExecplanError."""
    project, ref = plan_selection.select_plan(os.getcwd(), name)
    return [
        DoctorFixOutcome("edits", project.display_path(ref.path), recovery.message, recovery.diff)
        for recovery in lost_edit_recovery.restore_lost_edits(project, ref, options)
    ]


def _forget_overwritten(name: str, options: WriteOptions) -> list[str]:
    """Forget the overwritten edits of a plan, and return their descriptions. Raises ExecplanError."""
    project, ref = plan_selection.select_plan(os.getcwd(), name)
    steps = detect_lost_edits(project, ref).lost
    if steps and not options.dry_run:
        lost_edit_recovery.forget_edits(project, ref, steps)
    return [step.description for step in steps]


def _completion_script(shell: str) -> str:
    from execplan.cli.app import group
    from execplan.cli.shell_completion import completion_script

    return completion_script(group, shell)


def _doctor_answer(
    call: Call,
    checked: list[DoctorCheckResult],
    applied_fixes: list[DoctorFixOutcome],
    forgotten: list[str],
    refused: list[str],
    *,
    dry_run: bool,
    fix: bool,
) -> Answer:
    findings = [(check.name, finding) for check in checked for finding in check.findings]
    problem_count = sum([len(check.problems) for check in checked])
    fixable = [finding for _, finding in findings if finding.fix is not None]
    data: dict[str, Any] = {
        "checks": [json_fields(check, "name ok message") for check in checked],
        "findings": [
            {
                "check": name,
                **json_fields(finding, "level path line message"),
                "mend": finding.remedy,
                "fixable": finding.fix is not None,
            }
            for name, finding in findings
        ],
        "fixed": [json_fields(applied_fix, "check path message") for applied_fix in applied_fixes],
        "forgotten": forgotten,
    }
    prefix = "would " if dry_run else ""
    diffs = "\n".join([applied_fix.diff for applied_fix in applied_fixes if applied_fix.diff])
    lines = [f"{prefix}{applied_fix.message}" for applied_fix in applied_fixes]
    lines += [f"{prefix}{'forget' if dry_run else 'forgotten'}: {description}" for description in forgotten]
    if dry_run:
        data["diff"] = "\n".join([applied_fix.diff for applied_fix in applied_fixes if applied_fix.diff])
    skipped: dict[str, list[str]] = {}
    for check in checked:
        if not check.was_run:
            skipped.setdefault(check.message, []).append(check.name)
    lines.append(_headline(checked, problem_count, len(fixable), is_after_fix=bool(applied_fixes or forgotten)))
    joint_findings: dict[JointFinding, list[DoctorFinding]] = {}
    for _, finding in findings:
        if finding.joint is not None:
            joint_findings.setdefault(finding.joint, []).append(finding)
    joint_findings = {joint: members for joint, members in joint_findings.items() if len(members) > _MAX_SEPARATE}
    for joint, members in joint_findings.items():
        paths = join_first([finding.path for finding in members], _MAX_SEPARATE)
        lines += [f"{members[0].level}: {len(members)} {joint.subject}: {paths}", f"  fix: {joint.remedy}"]
    for name, finding in findings:
        if finding.joint in joint_findings:
            continue
        location = f"{finding.path}:{finding.line}" if finding.line else finding.path
        message = finding.message.removeprefix(f"{finding.path}: ").removeprefix(f"{finding.path} ")
        lines += [f"{location or name}: {finding.level}: {message}", f"  fix: {finding.remedy}"]
    lines += [f"{why} ({join_first(names, _MAX_SKIPPED_NAMED)})" for why, names in skipped.items()]
    passed_table = ""
    if call.verbose and (
        passed := [(check.name, check.message) for check in checked if check.ok and not check.findings]
    ):
        passed_table = "\n\n" + format_table(("check", "passed"), passed)
    next_commands = ("execplan doctor --fix",) if fixable and not (fix and not dry_run) else ()
    has_problems = bool(problem_count) or not all([check.was_run for check in checked])
    warnings = tuple([f"not fixed: {reason}" for reason in refused])
    return Answer(
        data,
        printable_lines(lines, diffs) + passed_table,
        CHECK_FAILED if has_problems else OK,
        warnings,
        next_commands,
        is_requested=has_problems or dry_run,
    )


_MAX_SEPARATE = 3
"""Maximum number of findings that are listed each for itself although one remedy is for all of them."""
_MAX_SKIPPED_NAMED = 5
"""Maximum number of skipped checks to name."""


def _headline(checked: list[DoctorCheckResult], finding_count: int, fixable: int, *, is_after_fix: bool) -> str:
    """Return the number of problems, in one line."""
    passed = len([check for check in checked if check.ok])
    if not finding_count:
        return f"no {'other ' if is_after_fix else ''}problems found ({passed} checks passed)"
    if fixable < finding_count:
        fixed = str(fixable)
    elif fixable == 1:
        fixed = "it"
    else:
        fixed = "all of them"
    fixes = f"execplan doctor --fix fixes {fixed}" if fixable else "none can be fixed automatically"
    return f"{format_count(finding_count, 'problem')} found; {fixes} ({passed} of {len(checked)} checks passed)"
