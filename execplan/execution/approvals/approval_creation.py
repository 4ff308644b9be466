"""Approving a plan: the checks before an approval, the confirmation, and writing the two approved files."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from execplan.core import features
from execplan.core.clock import now
from execplan.core.edits.plan_preconditions import ensure_not_archived, ensure_plan_exists
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files
from execplan.core.git.git_directory import head_commit
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import author
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.execution import approval_document
from execplan.execution.approval_document import Approval, Derived, UnsignedApproval
from execplan.execution.approvals import approval_files, approval_paths, approved_plan, artifact_store, git_tree
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.approvals.plan_evaluation import EvaluatedPlan, evaluate_plan
from execplan.execution.binding import drift
from execplan.execution.evaluate import EvaluatedStep
from execplan.execution.evaluation.approval_scope import ApprovalScope, find_forbidden_paths
from execplan.execution.evaluation.checks.check_registry import ERROR
from execplan.execution.evaluation.evaluation_text import describe_commands, step_location
from execplan.execution.execution_plan import Level
from execplan.execution.policy import Policy
from execplan.execution.states import ActiveRun
from execplan.execution.world import FILE

if TYPE_CHECKING:
    from execplan.execution.approvals.approval_signers import Signer, SigningRules

PreviousContents = dict[str, bytes | None]
"""Previous bytes of each written file by path; None for a file that was absent."""


_MIN_DIGEST_DIGITS = 8


class Confirmation(NamedTuple):
    """The confirmation of an approval: who approved, by which method, and what it covers."""

    approver: str
    """Name of who approves; an SSH signature has a name of its own, and only a name that somebody gave must match it."""
    how: Literal["terminal", "digest", "policy", "revision"]
    valid_seconds: int
    """Validity period of the approval in seconds."""
    max_risk: str | None = None
    step_ids: tuple[str, ...] | None = None
    inferred: Literal["terminal", "flag"] | None = None
    covering_approval: Approval | None = None
    """Approval that covers this revision of a run's steps; the new approval is derived from it and expires with it."""
    run_id: str = ""
    """ID of the run whose revision is covered."""
    is_named: bool = False
    """Whether somebody gave the name of the approver, as with `--by`."""


class ApprovalResult(NamedTuple):
    """The result of approving a plan, or of a dry run of that."""

    approval: Approval | None
    """Signed approval that was given; None in a dry run."""
    evaluated: EvaluatedPlan
    """What was approved."""
    scope: ApprovalScope
    """Which of its steps are covered."""
    path: str
    """Path of the approval from the repository root."""
    document_path: str
    """Path of the execution plan from the repository root."""
    commit: str | None = None
    warnings: tuple[str, ...] = ()


def evaluate_for_approval(project: Project, ref: PlanRef, active_run: ActiveRun | None = None) -> EvaluatedPlan:
    """Evaluate the plan that would be approved, given an active run that would continue. Raises ExecplanError."""
    require_existing(project)
    ensure_not_archived(project, ref)
    return evaluate_plan(project, ref, active_run)


def ensure_approvable(project: Project, ref: PlanRef, evaluated_plan: EvaluatedPlan) -> None:
    """Raise ExecplanError if the plan is blocked or not approvable; the error lists all the reasons."""
    errors = [finding for finding in evaluated_plan.evaluation.findings if finding.level == ERROR]
    messages = [f"{finding.step.id if finding.step else evaluated_plan.path}: {finding.message}" for finding in errors]
    forbidden_lines = list(find_forbidden_paths(evaluated_plan.current_plan.document, DiskWorld(project)))
    forbidden_lines += [message for message, finding in zip(messages, errors, strict=True) if finding.check == "hidden"]
    if forbidden_lines:
        raise ExecplanError(
            "not-approvable",
            f"{ref.id} has steps that can't be approved",
            hint=f"use only paths inside the repository and visible characters: execplan evaluate {ref.shell_name}",
            candidates=forbidden_lines,
        )
    unreadable_paths = [
        path
        for path, file_state in evaluated_plan.binding.states.items()
        if file_state.kind == FILE and not file_state.sha256
    ]
    reasons = [
        *messages,
        *[f"{path}: can't be read completely, so the approval can't be bound to it" for path in unreadable_paths],
    ]
    if reasons:
        raise ExecplanError(
            "must-not-run",
            f"{ref.id} is blocked, so it can't be approved",
            hint=f"see all findings and how to fix them: execplan evaluate {ref.shell_name}",
            candidates=reasons,
            data={"reasons": reasons},
        )


def ensure_current_digest(project: Project, ref: PlanRef, evaluated_plan: EvaluatedPlan, prefix: str) -> None:
    """Raise ExecplanError unless a digest is the current one; the error lists the known changes since."""
    if evaluated_plan.binding.digest.startswith(prefix.lower()):
        return
    stored_approvals = approval_files.select_readable(approval_files.read_all(project, ref))
    previous = next(
        (stored for stored in stored_approvals if stored.digest.startswith(prefix.lower())),
        stored_approvals[0] if stored_approvals else None,
    )
    lines = drift(previous.approval.binding, evaluated_plan.binding) if previous is not None else ()
    since_text = f" since {previous.digest[:12]} was approved" if previous is not None and lines else ""
    raise ExecplanError(
        "other-digest",
        f"{prefix} is not the digest of the plan as it is now: something has changed{since_text}",
        hint=f"review it again: execplan evaluate {ref.shell_name}",
        candidates=lines or ("it may be the steps, a file that they use, a program in the repository, or the policy",),
    )


def require_digest_prefix(prefix: str) -> None:
    """Refuse what is no beginning of a digest, or too short a one; raises ExecplanError."""
    if not _MIN_DIGEST_DIGITS <= len(prefix) <= 64 or prefix.strip("0123456789abcdefABCDEF"):
        message = f"--digest requires at least the first {_MIN_DIGEST_DIGITS} hex digits of a digest, not {prefix!r}"
        raise ExecplanError("usage", message, hint="use data.digest in the output of: execplan evaluate --json")


def ensure_nothing_inferred(scope: ApprovalScope, path: str) -> None:
    """Refuse to approve unseen what the plan does not say in so many words; raises ExecplanError."""
    if not scope.inferred_steps:
        return
    count = len(scope.inferred_steps)
    raise ExecplanError(
        "inferred-steps",
        f"{count} step{'s are' if count > 1 else ' is'} inferred from the plan's prose, and nobody has reviewed what would run",
        hint="review these steps, then approve them on a terminal or with --allow-inferred; or annotate them: execplan compile --annotate",
        candidates=[describe_step(evaluated_step, path) for evaluated_step in scope.inferred_steps],
    )


def describe_step(evaluated_step: EvaluatedStep, path: str) -> str:
    """A step with the very words of what it would run."""
    commands = [f"{label} {command}" for label, command in describe_commands(evaluated_step.step)] or [
        evaluated_step.step.description
    ]
    argv = f" {list(evaluated_step.step.argv)!r}" if evaluated_step.step.argv is not None else ""
    return f"{step_location(evaluated_step.step, path)}: {evaluated_step.step.id}: {'; '.join(commands)}{argv}"


def approve_plan(
    project: Project,
    ref: PlanRef,
    evaluated_plan: EvaluatedPlan,
    scope: ApprovalScope,
    confirmation: Confirmation,
    options: WriteOptions,
    record_approval: Callable[[Approval], PreviousContents],
) -> ApprovalResult:
    """Store the execution plan and its approval if nothing has changed since the plan was shown.

    The approval is recorded before its file exists: an approval that cannot be recorded is not granted. Raises
    ExecplanError.
    """
    document_path = artifact_store.path_of(project, ref)
    signer = _find_signer(project, evaluated_plan.policy, confirmation, dry_run=options.dry_run)
    approval_name = f"{evaluated_plan.binding.digest}{f'-{signer.key}' if signer.principal else ''}.json"
    approval_path = approval_paths.file_path(project, ref, approval_name)
    result = ApprovalResult(
        None, evaluated_plan, scope, project.display_path(approval_path), project.display_path(document_path)
    )
    if options.dry_run:
        return result
    options.prepare_commit(project)
    # signed before the lock: a person may have to type a passphrase
    approval = _sign_approval(project, evaluated_plan, scope, confirmation, signer)
    with project_state.lock(project, ref.real_path, f"approval of {ref.id}"):
        ensure_plan_exists(project, ref)
        candidate = approved_plan.find_candidate(project, ref)
        if candidate.binding.digest != evaluated_plan.binding.digest:
            raise ExecplanError(
                "stale-approval",
                f"{ref.id} changed while you reviewed it; nothing was approved",
                hint=f"review it again: execplan evaluate {ref.shell_name}",
                candidates=drift(evaluated_plan.binding, candidate.binding),
            )
        recorded_contents = record_approval(approval)
        old_contents = {
            **recorded_contents,
            document_path: atomic_files.retry_on_change(
                lambda: artifact_store.write_artifact(project, document_path, candidate.current_plan.data),
                result.document_path,
            ),
            approval_path: approval_files.save(project, ref, approval),
        }
        if not options.should_commit(project):
            return result._replace(approval=approval)
        from execplan.core.edits.plan_commit import commit_paths

        summary = f"approve {approval.digest[:12]}"
        existing_contents = {file: data for file, data in old_contents.items() if data is not None}
        commit_result = commit_paths(project, ref.id, list(old_contents), "approve", summary, existing_contents, None)
        return result._replace(approval=approval, commit=commit_result.digest, warnings=commit_result.warnings)


def _find_signer(project: Project, policy: Policy, confirmation: Confirmation, *, dry_run: bool) -> Signer:
    """Return who signs: whoever approves, or the machine. Raises ExecplanError."""
    covering = confirmation.covering_approval
    method = confirmation.how if covering is None else covering.effective_how
    rules: SigningRules = features.load(features.SIGNING_RULES)(project, policy)
    return rules.find_signer(method, confirmation.approver if confirmation.is_named else None, dry_run=dry_run)


def _sign_approval(
    project: Project, evaluated_plan: EvaluatedPlan, scope: ApprovalScope, confirmation: Confirmation, signer: Signer
) -> Approval:
    """Build an approval and sign it."""
    document, binding, approved_at = evaluated_plan.current_plan.document, evaluated_plan.binding, now()
    covered_ids = tuple([evaluated_step.step.id for evaluated_step in scope.covered])
    policy_step_ids = covered_ids if confirmation.how == "policy" else None
    step_ids = (
        covered_ids if scope.finished else confirmation.step_ids
    )  # finished steps were not evaluated: this approval does not cover them again
    session_id = author.session_id()
    covering_approval = confirmation.covering_approval
    if covering_approval is not None:
        expires_at = covering_approval.expires_at
    else:
        expires_at = approval_document.format_timestamp(approved_at + timedelta(seconds=confirmation.valid_seconds))
    terms = UnsignedApproval(
        id=os.urandom(16).hex(),
        plan_id=document.plan_id,
        revision=document.revision,
        place=approved_plan.checkout_digest(project),
        digest=binding.digest,
        document=binding.document,
        states=approval_document.to_bound_states(binding),
        policy=binding.policy,
        programs=approval_document.to_bound_programs(binding),
        tree=git_tree.tree_digest(project) if evaluated_plan.policy.pin == "tree" else None,
        head=head_commit(project),
        approver=author.clean_name(
            "the policy" if policy_step_ids is not None else signer.principal or confirmation.approver
        ),
        user=author.clean_name(author.system_login()),
        session=author.clean_name(session_id) if session_id else None,
        approved_at=approval_document.format_timestamp(approved_at),
        expires_at=expires_at,
        how=confirmation.how,
        derived_from=_derivation(covering_approval, confirmation.run_id) if covering_approval is not None else None,
        inferred=confirmation.inferred,
        max_risk=Level(confirmation.max_risk) if confirmation.max_risk is not None else None,
        steps=policy_step_ids if policy_step_ids is not None else step_ids,
        key=signer.key,
    )
    return signer.sign(terms)


def _derivation(covering_approval: Approval, run_id: str) -> Derived:
    method: Any = covering_approval.effective_how
    return Derived(
        digest=covering_approval.digest,
        revision=covering_approval.revision,
        approvals=(*covering_approval.origins, covering_approval.id),
        how=method,
        run=run_id,
    )
