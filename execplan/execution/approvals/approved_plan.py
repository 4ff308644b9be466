"""Approved plans: what may run. An approved plan exists only if an approval was found valid for exactly that plan."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.clock import now
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest
from execplan.execution import rare_features
from execplan.execution.approvals import approval_files, approval_key, approval_registry, git_tree
from execplan.execution.approvals.approval_files import UnreadableApproval
from execplan.execution.approvals.approval_states import (
    ALTERED,
    APPROVED,
    EXPIRED,
    REVOKED,
    STALE,
    UNTRUSTED,
    USED,
    approval_error,
)
from execplan.execution.binding import bind, drift
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.permission import NEVER, validity_problem
from execplan.execution.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any, TypeAlias

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approval_document import Approval
    from execplan.execution.approvals.approval_files import ApprovalFile, StoredApproval
    from execplan.execution.approvals.current_plan import CurrentPlan
    from execplan.execution.binding import Binding
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.permission import ApprovalTerms

CheckedApproval: TypeAlias = "ApprovedPlan | InvalidApproval"


class ApprovalCandidate(NamedTuple):
    """The plan that would be approved now, with its binding and policy."""

    current_plan: CurrentPlan
    binding: Binding
    policy: Policy

    @property
    def document(self) -> ExecutionPlan:
        """Return the execution plan of the candidate."""
        return _with_bound_files(self.current_plan.document, self.binding)


class ApprovedPlan(NamedTuple):
    """A plan with the approval that is valid for it now. Whatever runs a plan takes one."""

    candidate: ApprovalCandidate
    stored: StoredApproval
    """The newest approval."""
    companions: tuple[StoredApproval, ...] = ()
    """Approvals of other people that are valid only together with it."""
    merged_terms: ApprovalTerms | None = None
    """The terms of all of them together; None if there is only that of a machine."""

    @property
    def approval(self) -> Approval:
        """Return the newest approval of the plan."""
        return self.stored.approval

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """Return all approvals that are valid together, the newest first."""
        return (self.approval, *[stored.approval for stored in self.companions])

    @property
    def terms(self) -> ApprovalTerms:
        """Return what may run."""
        return self.merged_terms or self.approval.terms(self.policy.person_from)

    @property
    def document(self) -> ExecutionPlan:
        """Return the approved execution plan, whose steps have the files that the approval binds."""
        return _with_bound_files(self.candidate.current_plan.document, self.approval.binding)

    @property
    def binding(self) -> Binding:
        """Return the current binding, in which what the approval does not bind may differ."""
        return self.candidate.binding

    @property
    def policy(self) -> Policy:
        """Return the current policy."""
        return self.candidate.policy

    @property
    def state(self) -> str:
        """Return the state of the approval."""
        return APPROVED

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return no reasons: nothing speaks against the approval."""
        return ()


class InvalidApproval(NamedTuple):
    """An approval that permits nothing now, and why."""

    stored: ApprovalFile
    state: str
    """One of STALE, EXPIRED, ALTERED, UNTRUSTED, INCOMPLETE, USED and REVOKED."""
    reasons: tuple[str, ...]
    """Changes since approval or other problems, one per line."""


def _with_bound_files(document: ExecutionPlan, binding: Binding) -> ExecutionPlan:
    """Return a document whose steps have the files that a binding binds."""
    return features.load(rare_features.BOUND_FILES)(document, binding.states) if document.finds_files else document


def find_candidate(project: Project, ref: PlanRef, *, with_programs: bool = True) -> ApprovalCandidate:
    """Compile a plan and return what an approval of it would bind. Raises ExecplanError.

    Leave out programs if an agent's program runs the steps, because it has its own PATH.
    """
    from execplan.execution.approvals.current_plan import load_current_plan
    from execplan.execution.approvals.disk_world import DiskWorld
    from execplan.execution.approvals.effective_policy import effective_policy

    current_plan, policy = load_current_plan(project, ref), effective_policy(project)
    world, document = DiskWorld(project), current_plan.document
    binding = bind(current_plan.data, document, world, policy, with_programs=with_programs)
    return ApprovalCandidate(current_plan, binding, policy)


def check_approvals(
    project: Project,
    ref: PlanRef,
    candidate: ApprovalCandidate | str,
    run_id: str = "",
    ignored_paths: Collection[str] = (),
) -> list[CheckedApproval]:
    """Check every approval of a plan against a candidate, or against the reason that there is none; newest first.

    With `run_id`, an approval used by that run is still valid. Changes of `ignored_paths` do not count. Raises
    ExecplanError.
    """
    stored_approvals = approval_files.read_all(project, ref)
    if not stored_approvals:
        return []
    rules = features.load(features.SIGNING_RULES)(project, Policy() if isinstance(candidate, str) else candidate.policy)
    signing_key = approval_key.read(project)
    checked_approvals = [
        _check_approval(rules, stored, candidate, signing_key, run_id, ignored_paths) for stored in stored_approvals
    ]
    joined: list[CheckedApproval] = rules.join(checked_approvals)
    return joined


def select_valid(checked_approvals: Sequence[CheckedApproval]) -> ApprovedPlan | None:
    """Return the newest valid approval with its plan, or None."""
    return next((checked for checked in checked_approvals if isinstance(checked, ApprovedPlan)), None)


def _check_approval(
    rules: Any,
    stored: ApprovalFile,
    candidate: ApprovalCandidate | str,
    signing_key: bytes | None,
    run_id: str,
    ignored_paths: Collection[str],
) -> CheckedApproval:
    if isinstance(stored, UnreadableApproval):
        return InvalidApproval(stored, ALTERED, (stored.error,))
    project, approval = rules.project, stored.approval
    reason, is_intact = rules.signature_problem(approval, signing_key)
    if reason:
        return InvalidApproval(stored, UNTRUSTED if is_intact else ALTERED, (reason,))
    if not stored.is_intact:
        return InvalidApproval(stored, ALTERED, ("its content or its file name was changed",))
    registry_entry = approval_registry.read_entry(project, approval.id)
    if registry_entry.is_revoked:
        return InvalidApproval(stored, REVOKED, ())
    if any([approval_registry.read_entry(project, origin).is_revoked for origin in approval.origins]):
        return InvalidApproval(stored, REVOKED, ("the approval that covers this revision was revoked",))
    only_run_id = approval.derived_from.run if approval.derived_from is not None else ""
    if only_run_id and only_run_id != run_id:
        return InvalidApproval(stored, USED, (f"it is for run {only_run_id}, whose revision it covers",))
    if registry_entry.run_id and registry_entry.run_id != run_id:
        return InvalidApproval(stored, USED, (f"it was used by run {registry_entry.run_id}",))
    if reason := validity_problem(approval.terms(NEVER), now().timestamp()):
        return InvalidApproval(stored, EXPIRED, (reason,))
    if isinstance(candidate, str):
        return InvalidApproval(stored, STALE, (candidate,))
    drift_lines = _find_drift(
        project,
        approval,
        candidate,
        {**approval.binding.states, **candidate.binding.states} if registry_entry.run_id else ignored_paths,
        is_resume=bool(registry_entry.run_id),
    )
    return InvalidApproval(stored, STALE, drift_lines) if drift_lines else ApprovedPlan(candidate, stored)


def _find_drift(
    project: Project,
    approval: Approval,
    candidate: ApprovalCandidate,
    ignored_paths: Collection[str],
    *,
    is_resume: bool,
) -> tuple[str, ...]:
    """Return the changes since an approval, one per line.

    A resume skips files, programs and commits: the run changed them and compares them separately. Another checkout has
    programs of its own; those in the repository are part of the digest.
    """
    lines = []
    is_elsewhere = approval.place != checkout_digest(project)
    if is_elsewhere and approval.ssh is None:
        lines.append("it was given in another checkout")
    if approval.plan_id != candidate.document.plan_id:
        lines.append(f"it was given for plan {approval.plan_id}")
    elif approval.revision != candidate.document.revision:
        lines.append(
            f"it was given for revision {approval.revision}, but this is revision {candidate.document.revision}"
        )
    approved_binding, current_binding = [
        binding._replace(states={path: state for path, state in binding.states.items() if path not in ignored_paths})
        for binding in (approval.binding, candidate.binding)
    ]
    if is_resume or is_elsewhere or candidate.policy.programs != "refuse":
        current_binding = current_binding._replace(programs=None)
    lines += drift(approved_binding, current_binding)
    if candidate.current_plan.stale_reason and approved_binding.document == current_binding.document:
        lines.append(f"{candidate.current_plan.path}: {candidate.current_plan.stale_reason}")
    if not is_resume and candidate.policy.pin == "tree" and approval.tree != git_tree.tree_digest(project):
        lines += git_tree.changed_files(project, approval.head) or ("HEAD: has different files than at the approval",)
    return tuple(lines)


def require_approved_plan(
    project: Project, ref: PlanRef, *, run_id: str = "", with_programs: bool = True, steps_before: Collection[str] = ()
) -> ApprovedPlan:
    """Return a plan that may run or resume a run. Raises ExecplanError if it may not.

    Changes of what `steps_before` write do not count: they ran before, in another place.
    """
    candidate = find_candidate(project, ref, with_programs=with_programs)
    earlier_steps = [step for step in candidate.document.steps if step.id in steps_before]
    ignored_paths = [path for step in earlier_steps for path in written_paths(step.model_dump())]
    return require_approval(project, ref, candidate, run_id, ignored_paths)


def require_approval(
    project: Project, ref: PlanRef, candidate: ApprovalCandidate, run_id: str, ignored_paths: Collection[str] = ()
) -> ApprovedPlan:
    """Return a candidate with the approval that is valid for it. Raises ExecplanError if there is none."""
    checked_approvals = check_approvals(project, ref, candidate, run_id, ignored_paths)
    approved_plan = select_valid(checked_approvals)
    if approved_plan is None:
        newest = next(iter(checked_approvals), None)
        raise approval_error(
            ref, newest and newest.stored.digest, newest.state if newest else "", newest.reasons if newest else ()
        )
    return approved_plan


def checkout_digest(project: Project) -> str:
    """Return the digest of the checkout's real path."""
    return digest(os.fsencode(os.path.realpath(project.root)))
