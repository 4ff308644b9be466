"""Whether the check of a task may run: it comes from a plan, which anyone may have written.

In a sandbox, a command that only reads files of the repository runs, and nothing there is writable. Any other one needs a
person's approval, which counts from then on, whatever its risk is. One that the policy blocks never runs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets.secret_files import is_secret_file
from execplan.core.text.pure_paths import is_inside
from execplan.execution.permission import ALLOW, ASK, DENY
from execplan.execution.risk.command_risk import CRITICAL, HIGH, LOW, rate_command
from execplan.execution.risk.row_matching import candidate_paths
from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.reading_commands import GIT, find_command_reads
from execplan.execution.shell.simple_command import is_outside_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.project.project import Project
    from execplan.execution.acceptance_check import AcceptanceCheck
    from execplan.execution.approvals.check_approvals import CheckTerms
    from execplan.execution.policy import Policy

_WILD = frozenset("*?[")


class CheckPermission(NamedTuple):
    """Whether a check may run, with its risk."""

    check: AcceptanceCheck
    kind: str
    """Decision: ALLOW, ASK or DENY."""
    level: str
    """Risk level of the command."""
    reasons: tuple[str, ...]
    """Why the risk is no lower, or why the check may not run."""
    is_sandboxed: bool
    """Whether the check runs in a sandbox, and so without the network."""
    only_reads: bool = False
    """Whether the command is known to only read, so that it needs no approval and can write nothing."""

    @property
    def approval_terms(self) -> CheckTerms:
        """What a person's approval of the check covers."""
        from execplan.execution.approvals.check_approvals import CheckTerms

        check = self.check
        return CheckTerms(check.argv, check.cwd, check.env, self.is_sandboxed)


def find_permission(project: Project, policy: Policy, check: AcceptanceCheck, *, is_sandboxed: bool) -> CheckPermission:
    """Return whether a check may run. Raises ExecplanError if the approvals of checks can't be read."""
    from execplan.execution.approvals import check_approvals

    command = command_text(check)
    risk = rate_command(command, policy.risk_table, is_script=check.is_script)
    denial = _denial_reasons(project, check, command)
    if denial or risk.level == CRITICAL:
        return CheckPermission(check, DENY, risk.level, denial or risk.reasons, is_sandboxed)
    level, reasons = risk.level, risk.reasons
    outside_path = _find_outside_path(project, check, command)
    if outside_path and level != HIGH:
        level, reasons = HIGH, (f"`{outside_path}` leads outside the repository",)
    permission = CheckPermission(check, ALLOW, level, reasons, is_sandboxed)
    doubt = _doubt_of_reading(project, check) if is_sandboxed else "there is no sandbox"
    if level == LOW and not doubt and not policy.needs_person(LOW):
        return permission._replace(only_reads=True)
    if check_approvals.is_approved(project, permission.approval_terms):
        return permission
    return permission._replace(kind=ASK, reasons=(doubt,) if level == LOW and doubt else reasons)


def _doubt_of_reading(project: Project, check: AcceptanceCheck) -> str:
    """Return why a command may do more than read what it names in the repository, or an empty string."""
    from execplan.execution.approvals.git_triggers import find_program_setting
    from execplan.execution.shell.printed_secrets import printed_secret_reason

    reads = _find_reads(check)
    if reads is None:
        return "it is not known to only read"
    if any([not _WILD.isdisjoint(path) for path in reads]):
        return "it names files by a pattern"
    root = os.path.realpath(project.root)
    if check.argv[0] != GIT:
        return printed_secret_reason(check.argv, os.path.join(root, check.cwd), root)
    if check.cwd != "." or project.git is None or not os.path.lexists(os.path.join(project.root, ".git")):
        return "git could find another repository"
    setting = find_program_setting(project)
    if setting:
        return f"git may run what its setting {setting} names"
    return printed_secret_reason(check.argv, root, root)


def denied_error(permission: CheckPermission) -> ExecplanError:
    """Return the error for a check that the policy blocks."""
    return ExecplanError(
        "check-denied",
        f"the check of {permission.check.task_id} may not run ({permission.level}): "
        f"{'; '.join(permission.reasons)}: {permission.check.command}",
        hint="use a check that only tests; see how commands are rated: execplan explain risk",
    )


def not_approved_error(permission: CheckPermission, plan_name: str) -> ExecplanError:
    """Return the error for a check that a person has not approved."""
    task_id = permission.check.task_id
    return ExecplanError(
        "check-not-approved",
        f"the check of {task_id} needs a person's approval ({permission.level}): "
        f"{'; '.join(permission.reasons)}: {permission.check.command}",
        hint=f"a person reviews the command and runs this once in a terminal: execplan done {task_id} --verify -p {plan_name}",
    )


def command_text(check: AcceptanceCheck) -> str:
    """Return the command with its variables, as the risk table rates it and a person approves it."""
    from shlex import join, quote

    assignments = "".join([f"{name}={quote(value)} " for name, value in check.env])
    if check.is_script:
        return f"export {assignments}\n{check.command}" if assignments else check.command
    return assignments + join(check.argv)


def _denial_reasons(project: Project, check: AcceptanceCheck, command: str) -> tuple[str, ...]:
    """Return why a check may not run at all, whoever approves it."""
    from execplan.execution.evaluation.checks.check_registry import ERROR
    from execplan.execution.evaluation.checks.pattern_check import find_harmful_patterns

    patterns = find_harmful_patterns(command, is_script=check.is_script)
    reasons = [pattern.message for pattern in patterns if pattern.level == ERROR]
    reasons += [
        f"`{argument}` contains credentials"
        for argument, path in _path_arguments(check, command)
        if is_secret_file(_real_path(project, path))
    ]
    if _leads_outside(project, check.cwd) or ".git" in check.cwd.split("/"):
        reasons.append(f"its directory {check.cwd} is outside the repository's files")
    return tuple(reasons)


def _find_outside_path(project: Project, check: AcceptanceCheck, command: str) -> str:
    """Return an argument that leads outside the repository, also through a link, or an empty string."""
    for argument, path in _path_arguments(check, command):
        if is_outside_path(path.removeprefix(f"{check.cwd}/")) or _leads_outside(project, path):
            return argument
    return ""


def _path_arguments(check: AcceptanceCheck, command: str) -> Iterator[tuple[str, str]]:
    """Yield each argument that may contain a path, with this path from the repository root."""
    reads = _find_reads(check)
    if reads is not None:
        yield from [(path, os.path.join(check.cwd, path)) for path in reads]
        return
    for simple in parse_command(command).simple_commands:
        for argument in simple.argv[1:]:
            for path in candidate_paths(argument):
                yield argument, os.path.join(check.cwd, path)


def _find_reads(check: AcceptanceCheck) -> tuple[str, ...] | None:
    """Return what a check reads; None if it may do more."""
    return None if check.is_script or check.env else find_command_reads(check.argv)


def _leads_outside(project: Project, path: str) -> bool:
    """Return whether a path from the repository root leads outside the repository, also through a link."""
    return not is_inside(_real_path(project, path), os.path.realpath(project.root))


def _real_path(project: Project, path: str) -> str:
    return os.path.realpath(os.path.join(project.root, path))
