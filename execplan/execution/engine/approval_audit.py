"""Grant, decline and revoke approvals with an entry in the audit log: an approval without an entry does not count."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from execplan.core import trace
from execplan.core.documents.document_io import document_bytes
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan_store.author import author
from execplan.core.plan_store.hint_reader import require_person
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text import text_lines
from execplan.execution.approval_document import Approval
from execplan.execution.approvals import approval_creation, approval_paths, approval_registry
from execplan.execution.approvals.approval_creation import ApprovalResult, Confirmation, PreviousContents
from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
from execplan.execution.engine.audit_log.evidence_check import APPROVED, DECLINED, NOT_GIVEN, REVOKED
from execplan.execution.engine.audit_log.log_writer import AuditLog
from execplan.execution.engine.run_records.run_summary import find_active_run
from execplan.execution.evaluation.approval_scope import ApprovalScope, approval_scope

ConfirmApproval = Callable[[EvaluatedPlan, ApprovalScope, Confirmation, list[str]], tuple[Confirmation, list[str]]]

_APPROVAL_FIELDS = (
    "digest",
    "approver",
    "how",
    "inferred",
    "approved_at",
    "expires_at",
    "revision",
    "document",
    "policy",
    "head",
)


def approve(
    project: Project,
    ref: PlanRef,
    digest: str | None,
    *,
    by: str | None,
    valid_seconds: int,
    max_risk: str | None,
    steps: Sequence[str],
    allow_inferred: bool,
    confirm: ConfirmApproval | None,
    options: WriteOptions,
) -> ApprovalResult:
    """Approve what a plan would do now, for one run with its resumes; raises ExecplanError.

    The parameters are as in `execplan.approve`.
    """
    evaluated = approval_creation.evaluate_for_approval(project, ref, find_active_run(project, ref))
    if digest is not None:
        approval_creation.require_digest_prefix(digest)
        approval_creation.ensure_current_digest(project, ref, evaluated, digest)
    approval_creation.ensure_approvable(project, ref, evaluated)
    scope = approval_scope(evaluated.evaluation, max_risk, tuple(steps) or None)
    confirmation = Confirmation(by or author(project), "digest", valid_seconds, max_risk, tuple(steps) or None)
    confirmation = confirmation._replace(is_named=by is not None)
    if not scope.covered and (scope.uncovered or not scope.finished):
        raise ExecplanError(
            "nothing-to-approve",
            "no step is covered, so there is nothing to approve",
            hint="raise --max-risk",
            candidates=[f"{uncovered.evaluated.step.id}: {uncovered.why}" for uncovered in scope.uncovered],
        )
    warnings = _command_warnings(project, evaluated, scope)
    if not options.dry_run:
        if scope.manual_steps:
            require_person(f"execplan approve {ref.shell_name}")
        try:
            if not scope.manual_steps:
                confirmation = confirmation._replace(how="policy")
            elif digest is None:
                confirmation, warnings = (confirm or _require_digest)(evaluated, scope, confirmation, warnings)
            else:
                if not allow_inferred:
                    approval_creation.ensure_nothing_inferred(scope, evaluated.path)
                confirmation = confirmation._replace(inferred="flag" if scope.inferred_steps else None)
                confirmation, warnings = (confirm or _accept)(evaluated, scope, confirmation, warnings)
        except ExecplanError as error:
            if error.code == "declined":
                decline(project, ref, evaluated, scope, confirmation.approver)
            raise
    result = approve_and_record(project, ref, evaluated, scope, confirmation, options)
    return result._replace(warnings=(*warnings, *result.warnings))


def _command_warnings(project: Project, evaluated: EvaluatedPlan, scope: ApprovalScope) -> list[str]:
    """Return what a person should know before the covered commands run."""
    if evaluated.current_plan.document.mode == "agent":
        return []
    from execplan.execution.engine.command_warnings import command_warnings

    return command_warnings(project, evaluated.policy, [covered.step for covered in scope.covered])


def _accept(
    evaluated: EvaluatedPlan, scope: ApprovalScope, confirmation: Confirmation, warnings: list[str]
) -> tuple[Confirmation, list[str]]:
    """Return the confirmation by a digest as it is: nobody can be asked."""
    return confirmation, warnings


def _require_digest(
    evaluated: EvaluatedPlan, scope: ApprovalScope, confirmation: Confirmation, warnings: list[str]
) -> tuple[Confirmation, list[str]]:
    """Raise ExecplanError: without a digest, a person has to be asked."""
    raise ExecplanError(
        "usage",
        "an approval requires the digest of the evaluation that you read",
        hint="approve(plan, evaluate(plan).binding.digest)",
    )


def approve_and_record(
    project: Project,
    ref: PlanRef,
    evaluated_plan: EvaluatedPlan,
    scope: ApprovalScope,
    confirmation: Confirmation,
    options: WriteOptions,
) -> ApprovalResult:
    """Record the approval of an evaluated plan in the audit log, then write the approval.

    Raises ExecplanError, after recording that the approval was not given. A process that is killed between the two
    leaves an entry for an approval that has no file; nothing can run under it.
    """
    audit_log = AuditLog(project, ref)
    step_ids = [covered_step.step.id for covered_step in scope.covered]
    recorded_approvals: list[Approval] = []

    def record(approval: Approval) -> PreviousContents:
        old_bytes = file_access.read_if_exists(audit_log.path, 1 << 30)
        audit_log.append(APPROVED, {**_approval_fields(approval, step_ids), **_plan_fields(evaluated_plan)})
        recorded_approvals.append(approval)
        return {audit_log.path: old_bytes}

    try:
        approval_result = approval_creation.approve_plan(
            project, ref, evaluated_plan, scope, confirmation, options, record
        )
    except BaseException as error:
        if recorded_approvals and not _is_written(project, ref, recorded_approvals[0]):
            reason = error.message if isinstance(error, ExecplanError) else type(error).__name__
            audit_log.append(
                NOT_GIVEN,
                {"digest": recorded_approvals[0].digest, "file": _file_digest(recorded_approvals[0]), "reason": reason},
            )
            _move_anchor(audit_log)
        raise
    if recorded_approvals:
        return approval_result._replace(warnings=(*approval_result.warnings, *_move_anchor(audit_log)))
    return approval_result


def decline(project: Project, ref: PlanRef, evaluated_plan: EvaluatedPlan, scope: ApprovalScope, approver: str) -> None:
    """Record that a person was asked for approval and did not give it.

    If recording fails, add a warning; the approval is declined all the same.
    """
    audit_log = AuditLog(project, ref)
    step_ids = [covered_step.step.id for covered_step in scope.covered]
    try:
        audit_log.append(DECLINED, {"digest": evaluated_plan.binding.digest, "approver": approver, "steps": step_ids})
        audit_log.update_anchor()
    except ExecplanError as error:
        trace.warnings.append(f"couldn't record that the approval was declined: {error.message}")


def revoke(project: Project, ref: PlanRef, approvals: Sequence[tuple[str, str]]) -> None:
    """Revoke approvals, given by the approved digest and the ID, and record it. Raises ExecplanError.

    The entry is written after the revocation: a process that is killed between the two has revoked the approval.
    """
    audit_log = AuditLog(project, ref)
    for plan_digest, approval_id in approvals:
        if approval_registry.revoke(project, approval_id):
            try:
                audit_log.append(REVOKED, {"digest": plan_digest, "approval": approval_id})
            except ExecplanError as error:
                error.message = f"{plan_digest[:12]} is revoked, but this is not recorded: {error.message}"
                raise
    if approvals:
        audit_log.update_anchor()


def _approval_fields(approval: Approval, step_ids: list[str]) -> dict[str, object]:
    fields = {name: getattr(approval, name) for name in _APPROVAL_FIELDS}
    risk = approval.max_risk.value if approval.max_risk is not None else None
    derivation = approval.derived_from
    coverage_fields = {"covered_by": derivation.digest, "run": derivation.run} if derivation is not None else {}
    if approval.ssh is not None:
        fields["key"] = approval.key
    computed_fields = {"approval": approval.id, "file": _file_digest(approval), "max_risk": risk, "steps": step_ids}
    return {**fields, **computed_fields, **coverage_fields}


def _plan_fields(evaluated_plan: EvaluatedPlan) -> dict[str, object]:
    """Return the number of steps of the execution plan, its kind and, if it was just generated, the seconds that took."""
    generation_seconds = evaluated_plan.current_plan.generation_seconds
    document = evaluated_plan.current_plan.document
    return {
        "plan_steps": len(document.steps),
        "category": document.intent.category,
        **({} if generation_seconds is None else {"generation_s": generation_seconds}),
    }


def _file_digest(approval: Approval) -> str:
    """Return the SHA-256 digest of an approval's file."""
    return text_lines.digest(document_bytes(approval))


def _is_written(project: Project, ref: PlanRef, approval: Approval) -> bool:
    """Return whether the approval's file was written, so that the failure came later."""
    path = approval_paths.file_path(project, ref, approval.file_name)
    return os.path.lexists(path) and file_access.read(path, 1 << 30)[0] == document_bytes(approval)


def _move_anchor(audit_log: AuditLog) -> tuple[str, ...]:
    """Move the anchor of the audit log. A failure does not undo an approval: return it as a warning."""
    try:
        audit_log.update_anchor()
    except ExecplanError as error:
        return (f"the anchor of the audit log was not updated: {error.message}",)
    return ()
