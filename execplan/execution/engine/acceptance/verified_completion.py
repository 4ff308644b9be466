"""`done --verify`: run the checks of tasks, keep the transcripts, and check off the tasks whose check has passed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final

from execplan.core.clock import now
from execplan.core.edits.plan_updates import ensure_own_copy
from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.core.errors import ExecplanError, interrupted_error
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange
from execplan.core.plan.plan_lookup import find_task
from execplan.core.plan.transcript_links import can_have_items
from execplan.core.plan.verified_tasks import CHECKS_DIRECTORY, complete_verified_tasks, task_of_id
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project, ensure_inside
from execplan.execution.acceptance_check import AcceptanceCheck, find_acceptance_checks
from execplan.execution.engine.acceptance.check_permission import (
    CheckPermission,
    denied_error,
    find_permission,
    not_approved_error,
)
from execplan.execution.engine.acceptance.check_run import CheckRunner, TaskCheckResult
from execplan.execution.permission import ASK, DENY

ApproveChecks = Callable[[Sequence[CheckPermission]], bool]
"""Asks a person about checks; returns whether the person approves all of them."""

_MAX_TRANSCRIPT_BYTES: Final = 256 << 20


class VerificationObserver:
    """What a caller learns while checks run; the methods do nothing."""

    def check_starts(self, check: AcceptanceCheck) -> None:
        """Learn that a check starts."""

    def output_line(self, line: str, is_error: bool) -> None:
        """Learn a line of output, and whether it is from standard error."""


class Verification(NamedTuple):
    """The result of `done --verify`."""

    edit: EditResult | None
    """Result of checking off the tasks whose check has passed; None if none has, or in a dry run."""
    results: tuple[TaskCheckResult, ...]
    planned: tuple[CheckPermission, ...]
    """In a dry run, the checks that would run."""
    warnings: tuple[str, ...]


def verify_tasks(
    project: Project,
    ref: PlanRef,
    queries: Sequence[str],
    options: WriteOptions,
    *,
    approve_checks: ApproveChecks | None = None,
    observer: VerificationObserver | None = None,
) -> Verification:
    """Run the checks of tasks in order, and check off the tasks whose check has passed.

    No lock is held while checks run. Raises ExecplanError before any check runs if a task has none, or if one may not
    run; and afterward if a check has changed meanwhile.
    """
    from execplan.execution.approvals.effective_policy import effective_policy
    from execplan.execution.engine.commands.command_sandbox import find_sandbox
    from execplan.execution.engine.commands.stop_signal import SignalHandlers, StopSignal

    observer = observer or VerificationObserver()
    plan = plan_store.parse(project, plan_store.read_bytes(project, ref.path))
    checks = _require_checks(project, ref, plan, queries)
    preview = complete_verified_tasks({check.task_id: "" for check in checks}, now())
    ensure_own_copy(project, ref, options)
    amend(project, ref, preview, options._replace(dry_run=True), command="done")  # fails before a check runs in vain
    policy = effective_policy(project)
    sandbox, reason = find_sandbox(project, policy)
    permissions = [find_permission(project, policy, check, is_sandboxed=sandbox is not None) for check in checks]
    for permission in permissions:
        if permission.kind == DENY:
            raise denied_error(permission)
    if options.dry_run:
        return Verification(None, (), tuple(permissions), ())
    _approve(project, ref, permissions, approve_checks)
    missing_sandbox = sandbox is None and policy.sandbox != "off"
    warnings = (f"checks run without a sandbox: {reason}",) if missing_sandbox else ()
    stop = StopSignal()
    runner = CheckRunner(project, policy, sandbox, stop, _artifacts_directory(project, ref))
    results: list[TaskCheckResult] = []
    with SignalHandlers(stop, lambda: None):
        for check, permission in zip(checks, permissions, strict=True):
            observer.check_starts(check)
            results.append(runner.run(check, observer.output_line, only_reads=permission.only_reads))
            if stop.is_set():
                message = f"the check of {check.task_id} was interrupted by {stop.signal}; no task was checked off"
                raise interrupted_error(stop.signal, message, "repeat the command")
    passed = [result for result in results if result.passed]
    edit = _complete(project, ref, passed, options) if passed else None
    final_results = [_with_artifact(project, ref, result) if result.passed else result for result in results]
    return Verification(edit, tuple(final_results), (), warnings)


def _require_checks(project: Project, ref: PlanRef, plan: ParsedPlan, queries: Sequence[str]) -> list[AcceptanceCheck]:
    """Return the checks of the tasks, each task once.

    Raises ExecplanError if a task has none, or if their transcripts would be outside the repository.
    """
    ensure_inside(project, _artifacts_directory(project, ref))
    tasks = list(dict([find_task(plan, query) for query in queries]).values())
    checks = find_acceptance_checks(plan, ref.id, project.display_path(ref.path), tasks)
    missing = [str(task.number) for task, check in zip(tasks, checks, strict=True) if check is None]
    if missing:
        word = "task" if len(missing) == 1 else "tasks"
        can_add = all([can_have_items(task) for task in tasks])
        example = "add an item below the task, as in: - Check: `pytest -q tests/reader`; or " if can_add else ""
        raise ExecplanError(
            "no-check",
            f"{word} {', '.join(missing)} of {ref.id} {'has' if len(missing) == 1 else 'have'} no check",
            hint=f"{example}omit --verify",
        )
    return [check for check in checks if check is not None]


def _approve(
    project: Project, ref: PlanRef, permissions: Sequence[CheckPermission], approve_checks: ApproveChecks | None
) -> None:
    """Let a person approve the checks that need it, and record that. Raises ExecplanError if they are not approved.

    A named agent can't approve them.
    """
    from execplan.core.plan_store.author import explicit_actor, system_login
    from execplan.execution.approvals import check_approvals

    unapproved = [permission for permission in permissions if permission.kind == ASK]
    if not unapproved:
        return
    if approve_checks is None or explicit_actor() is not None or not approve_checks(unapproved):
        raise not_approved_error(unapproved[0], ref.shell_name)
    for permission in unapproved:
        check_approvals.approve(project, permission.approval_terms, system_login())


def _complete(project: Project, ref: PlanRef, passed: Sequence[TaskCheckResult], options: WriteOptions) -> EditResult:
    """Keep the transcripts among the plan's artifacts, and check off the tasks with links to them."""
    from execplan.execution.engine.ticks import transcript_href

    paths = {result.check.task_id: _artifact_path(project, ref, result) for result in passed}
    links = {task_id: transcript_href(project, ref, project.display_path(path)) for task_id, path in paths.items()}
    for result in passed:
        data = file_access.read(result.transcript, _MAX_TRANSCRIPT_BYTES)[0]
        atomic_files.create(paths[result.check.task_id], data, within=project.root, make_directories=True)
    changer = _ensure_same_checks(project, ref, passed, complete_verified_tasks(links, now()))
    try:
        return amend(project, ref, changer, options, command="done", extra_paths=tuple(paths.values()))
    finally:
        _remove_unlinked(project, ref, links, paths)


def _ensure_same_checks(
    project: Project, ref: PlanRef, passed: Sequence[TaskCheckResult], changer: ChangeBuilder
) -> ChangeBuilder:
    """Return the change, which fails if a check in the plan is no longer the one that has run."""
    path = project.display_path(ref.path)

    def build_change(plan: ParsedPlan) -> PlanChange:
        change = changer(plan)
        for result in passed:
            task = task_of_id(plan, result.check.task_id)
            if task is not None and find_acceptance_checks(plan, ref.id, path, [task]) != [result.check]:
                raise ExecplanError(
                    "check-changed",
                    f"the check of {result.check.task_id} changed while it ran; the task was not checked off",
                    hint=f"run the new one: execplan done {result.check.task_id} --verify -p {ref.shell_name}",
                )
        return change

    return build_change


def _artifacts_directory(project: Project, ref: PlanRef) -> str:
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), CHECKS_DIRECTORY)


def _artifact_path(project: Project, ref: PlanRef, result: TaskCheckResult) -> str:
    return os.path.join(_artifacts_directory(project, ref), result.name)


def _remove_unlinked(project: Project, ref: PlanRef, links: dict[str, str], paths: dict[str, str]) -> None:
    """Remove the transcripts to which the plan has no link, because the edit failed."""
    text = plan_store.read_bytes(project, ref.path) if os.path.lexists(ref.path) else b""
    for task_id, path in paths.items():
        if os.fsencode(links[task_id]) not in text and os.path.lexists(path):
            os.unlink(path)
            atomic_files.remove_empty_directory(os.path.dirname(path))


def _with_artifact(project: Project, ref: PlanRef, result: TaskCheckResult) -> TaskCheckResult:
    """Return the result with the transcript among the artifacts if it is kept there."""
    path = _artifact_path(project, ref, result)
    if not os.path.lexists(path):
        return result
    try:
        os.unlink(result.transcript)
    except FileNotFoundError:
        pass  # another process has removed it, as one of the oldest
    return result._replace(transcript=path)
