"""Approval status of a plan, for reports: compiled, approved, stale and so on, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approval_document import Approval
from execplan.execution.approvals import approval_files
from execplan.execution.approvals.approval_states import INCOMPLETE, STALE
from execplan.execution.approvals.approved_plan import (
    ApprovalCandidate,
    ApprovedPlan,
    CheckedApproval,
    check_approvals,
    find_candidate,
    select_valid,
)
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.policy import Policy

if TYPE_CHECKING:
    from execplan.execution.approvals.approval_signers import SigningRules

ApprovalStatus: TypeAlias = "ApprovedPlan | UnapprovedPlan | UncompiledPlan"

NOT_COMPILED: Final = "none"
COMPILED: Final = "compiled"


class UnapprovedPlan(NamedTuple):
    """A compiled plan without a valid approval."""

    candidate: ApprovalCandidate
    state: str
    """The state of the newest approval; without one COMPILED, or STALE if the stored plan is not used."""
    reasons: tuple[str, ...]
    approval: Approval | None
    """The newest approval, if it can be read."""

    @property
    def document(self) -> ExecutionPlan:
        """Return the execution plan that would be approved now."""
        return self.candidate.document


class UncompiledPlan(NamedTuple):
    """A plan that does not compile, so that nobody can approve it."""

    state: str
    """STALE if the plan has approvals, otherwise NOT_COMPILED."""
    reasons: tuple[str, ...]


def find_status(project: Project, ref: PlanRef, run_id: str = "", *, with_programs: bool = True) -> ApprovalStatus:
    """Return the approval status of a plan, or its status for one run. Raises ExecplanError."""
    try:
        candidate = find_candidate(project, ref, with_programs=with_programs)
    except ExecplanError as error:
        return UncompiledPlan(STALE if approval_files.read_all(project, ref) else NOT_COMPILED, (error.message,))
    checked_approvals = check_approvals(project, ref, candidate, run_id)
    return select_valid(checked_approvals) or _unapproved_plan(candidate, checked_approvals)


def list_missing_approvers(project: Project, ref: PlanRef, run_id: str = "") -> tuple[str, ...]:
    """Return who must still approve a plan that somebody has approved, one line each. Raises ExecplanError."""
    status = find_status(project, ref, run_id)
    return status.reasons if status.state == INCOMPLETE else ()


def has_signed(project: Project, ref: PlanRef, policy: Policy, digest: str) -> bool:
    """Return whether the person whose key git signs with is among those who have approved a digest."""
    approvals = [stored.approval for stored in approval_files.select_readable(approval_files.read_all(project, ref))]
    keys = {approval.key for approval in approvals if approval.digest == digest and approval.ssh is not None}
    if not keys:
        return False
    try:
        rules: SigningRules = features.load(features.SIGNING_RULES)(project, policy)
        return rules.is_ssh and rules.find_signer("terminal", None, dry_run=True).key in keys
    except ExecplanError:  # such a person can't approve
        return False


def _unapproved_plan(candidate: ApprovalCandidate, checked_approvals: list[CheckedApproval]) -> UnapprovedPlan:
    if checked_approvals:
        newest = checked_approvals[0]
        readable = approval_files.select_readable([newest.stored])
        return UnapprovedPlan(candidate, newest.state, newest.reasons, readable[0].approval if readable else None)
    if candidate.current_plan.stale_reason:
        return UnapprovedPlan(candidate, STALE, (candidate.current_plan.stale_reason,), None)
    return UnapprovedPlan(candidate, COMPILED, (), None)


def check_all_approvals(project: Project, ref: PlanRef, run_id: str = "") -> list[CheckedApproval]:
    """Return every approval of a plan with its state, newest first. Raises ExecplanError."""
    if not approval_files.read_all(project, ref):  # a compilation takes longer than to read them twice
        return []
    try:
        return check_approvals(project, ref, find_candidate(project, ref), run_id)
    except ExecplanError as error:
        return check_approvals(project, ref, error.message, run_id)
