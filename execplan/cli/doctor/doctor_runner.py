"""Runner of all doctor checks and of the fixes for their findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from execplan.cli.doctor import (
    agent_hook_checks,
    edit_checks,
    environment_checks,
    integration_checks,
    leftover_checks,
    plan_file_checks,
    run_record_checks,
    staleness_checks,
)
from execplan.cli.doctor.doctor_check import CHECKS, ERROR, NOTICE, DoctorCheck, DoctorContext, DoctorFinding
from execplan.core import trace
from execplan.core.edits.bulk_operation import BulkOperation
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError

CHECK_MODULES = (
    environment_checks,
    plan_file_checks,
    edit_checks,
    run_record_checks,
    leftover_checks,
    agent_hook_checks,
    integration_checks,
    staleness_checks,
)
"""Modules of checks in the order of checks and fixes; importing a module registers its checks."""
for _module in CHECK_MODULES:
    for _name in [
        name for name, registered in CHECKS.items() if registered.find_problems.__module__ == _module.__name__
    ]:
        CHECKS[_name] = CHECKS.pop(_name)


class DoctorCheckResult(NamedTuple):
    """The result of a doctor check."""

    name: str
    message: str
    """Sentence and notes of the check, or the reason why it was not run."""
    findings: tuple[DoctorFinding, ...]
    was_run: bool = True

    @property
    def ok(self) -> bool:
        """Whether the check ran and found no problem."""
        return self.was_run and not self.problems

    @property
    def problems(self) -> list[DoctorFinding]:
        """Findings that are more than a notice."""
        return [finding for finding in self.findings if finding.level != NOTICE]


class DoctorFixOutcome(NamedTuple):
    """A fix that was applied, or would be in a dry run."""

    check: str
    path: str
    message: str
    diff: str = ""


CHECKS_BEFORE_STALENESS = ("settings", "plans")
"""Checks whose findings may be the reason why a stale plan is not found."""


def run_checks(start: str, script: Callable[[str], str], *, only_stale: bool = False) -> list[DoctorCheckResult]:
    """Run the checks on a directory's project and the projects that it names; raises ExecplanError without a project.

    `script` returns the completion script of a shell. With `only_stale`, only the checks for stale plans run, and
    those of the settings and of plans that can't be read.
    """
    context = DoctorContext(start, script)
    reported: set[str] = set()
    results = []
    for check in CHECKS.values():
        if not only_stale and check.is_about_staleness:
            continue
        if only_stale and not check.is_about_staleness and check.name not in CHECKS_BEFORE_STALENESS:
            continue
        check_result = _run_check(check, context, reported)
        reported |= {finding.message for finding in check_result.findings}
        results.append(check_result)
    return results


def _run_check(check: DoctorCheck, context: DoctorContext, reported: set[str]) -> DoctorCheckResult:
    """Run a check; an error that prevents it becomes a finding, unless another check has reported it."""
    if not (check.works_without_settings or context.projects):
        return DoctorCheckResult(check.name, "not checked: the settings can't be read", (), was_run=False)
    findings: list[DoctorFinding] = []
    notes = [check.sentence]
    try:
        for outcome in check.find_problems(context):
            if isinstance(outcome, DoctorFinding):
                findings.append(outcome)
            else:
                notes.append(outcome)
    except ExecplanError as error:
        if error.message in reported or any([error.message in message for message in reported]):
            return DoctorCheckResult(check.name, f"not checked: {error.message}", tuple(findings), was_run=False)
        findings.append(
            DoctorFinding(
                ERROR,
                "",
                error.message,
                error.hint or "resolve this error, then check again: execplan doctor",
                error.line,
            )
        )
    note_text = f" ({'; '.join(notes[1:])})" if notes[1:] else ""
    return DoctorCheckResult(check.name, notes[0] + note_text, tuple(findings))


def preview_fixes(results: list[DoctorCheckResult]) -> list[DoctorFixOutcome]:
    """Return the fixes that `apply_fixes` would apply."""
    return [
        DoctorFixOutcome(check_result.name, finding.path, finding.fix.description, finding.fix.diff)
        for check_result in results
        for finding in check_result.findings
        if finding.fix is not None
    ]


def apply_fixes(
    start: str, script: Callable[[str], str], options: WriteOptions
) -> tuple[list[DoctorFixOutcome], list[str]]:
    """Apply all fixes, check by check, each after the fixes of earlier checks; return them and the failures."""
    applied: list[DoctorFixOutcome] = []
    failures: list[str] = []
    bulk = BulkOperation()
    options = options._replace(bulk=bulk)
    context = DoctorContext(start, script)
    for check in [check for check in CHECKS.values() if not check.is_about_staleness]:
        for finding in _run_check(check, context, set()).findings:
            if finding.fix is None:
                continue
            context = DoctorContext(start, script)
            try:
                applied += [
                    DoctorFixOutcome(check.name, finding.path, message) for message in finding.fix.apply(options)
                ]
            except ExecplanError as error:
                failures.append(f"{finding.path or check.name}: {error.message}")
    try:
        trace.warnings += bulk.commit("doctor", "doctor --fix")
    except ExecplanError as error:
        failures.append(error.message)
    return applied, failures
