"""Approval status of a plan: whether the compiled plan may run (compiled, approved, stale and so on), and why."""

from __future__ import annotations

import os

from execplan.approvals import approval_files, approval_key, approval_registry, git_tree
from execplan.clock import now
from execplan.errors import CONFLICT, POLICY, ExecplanError
from execplan.execution import approval_document
from execplan.execution.binding import bind, drift
from execplan.execution.permission import NEVER, validity_problem
from execplan.named_tuple import NamedTuple
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Final

    from execplan.approvals.approval_files import StoredApproval
    from execplan.approvals.current_plan import CurrentPlan
    from execplan.execution.approval_document import Approval
    from execplan.execution.binding import Binding
    from execplan.execution.policy import Policy
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

NOT_COMPILED: Final = "none"
COMPILED: Final = "compiled"
STALE: Final = "stale"
APPROVED: Final = "approved"
EXPIRED: Final = "expired"
ALTERED: Final = "altered"
USED: Final = "used"
REVOKED: Final = "revoked"


class ApprovalCandidate(NamedTuple):
    """The plan that would be approved now, with its binding and policy."""

    current_plan: CurrentPlan
    binding: Binding
    policy: Policy


class CheckedApproval(NamedTuple):
    """A stored approval with its state: approved, stale, expired, altered, used or revoked."""

    stored: StoredApproval
    state: str
    reasons: tuple[str, ...]
    """Changes since approval or other problems, one per line."""


class ApprovalStatus(NamedTuple):
    """The approval status of a plan, with the approval that decides it."""

    state: str
    approval: Approval | None = None
    """The valid approval, otherwise the newest one."""
    drift: tuple[str, ...] = ()
    approval_path: str = ""
    """Path of the approval's file."""
    candidate: ApprovalCandidate | None = None
    """Plan that would be approved now; None if the plan does not compile."""


def find_candidate(project: Project, ref: PlanRef, *, with_programs: bool = True) -> ApprovalCandidate:
    """Compile a plan and return what an approval of it would bind. Raises ExecplanError.

    Leave out programs if an agent's program runs the steps, because it has its own PATH.
    """
    from execplan.approvals.current_plan import load_current_plan
    from execplan.approvals.disk_world import DiskWorld
    from execplan.approvals.effective_policy import effective_policy

    current_plan, policy = load_current_plan(project, ref), effective_policy(project)
    binding = bind(current_plan.data, current_plan.document, DiskWorld(project), policy)
    return ApprovalCandidate(current_plan, binding if with_programs else binding._replace(programs=None), policy)


def find_status(project: Project, ref: PlanRef, run_id: str = "", *, with_programs: bool = True) -> ApprovalStatus:
    """Return the approval status of a plan, or its status for one run.

    A plan that does not compile is stale if it has approvals. Raises ExecplanError.
    """
    try:
        candidate = find_candidate(project, ref, with_programs=with_programs)
    except ExecplanError as error:
        return ApprovalStatus(STALE if approval_files.read_all(project, ref) else NOT_COMPILED, drift=(error.message,))
    best_approval = _select_best(check_approvals(project, ref, candidate, run_id))
    if best_approval is None:
        stale_reason = candidate.current_plan.stale_reason
        return ApprovalStatus(
            STALE if stale_reason else COMPILED, drift=(stale_reason,) if stale_reason else (), candidate=candidate
        )
    return ApprovalStatus(
        best_approval.state, best_approval.stored.approval, best_approval.reasons, best_approval.stored.path, candidate
    )


def check_all_approvals(project: Project, ref: PlanRef, run_id: str = "") -> list[CheckedApproval]:
    """Return every approval of a plan with its state, newest first. Raises ExecplanError."""
    try:
        return check_approvals(project, ref, find_candidate(project, ref), run_id)
    except ExecplanError as error:
        return check_approvals(project, ref, error.message, run_id)


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
    signing_key = approval_key.read(project)
    return [
        _check_approval(project, stored, candidate, signing_key, run_id, ignored_paths) for stored in stored_approvals
    ]


def _select_best(checked_approvals: list[CheckedApproval]) -> CheckedApproval | None:
    """Return the valid approval, otherwise the newest one."""
    return next(
        (checked for checked in checked_approvals if checked.state == APPROVED),
        checked_approvals[0] if checked_approvals else None,
    )


def _check_approval(
    project: Project,
    stored: StoredApproval,
    candidate: ApprovalCandidate | str,
    signing_key: bytes | None,
    run_id: str,
    ignored_paths: Collection[str],
) -> CheckedApproval:
    approval = stored.approval
    if approval is None:
        return CheckedApproval(stored, ALTERED, (stored.error,))
    if signing_key is None or not approval_document.verify_signature(approval, signing_key):
        is_other_key = signing_key is None or approval_document.key_id(signing_key) != approval.key
        reason = (
            "it is sealed with another key: by another user, or on another machine"
            if is_other_key
            else "its seal is broken"
        )
        return CheckedApproval(stored, ALTERED, (reason,))
    if not stored.is_intact:
        return CheckedApproval(stored, ALTERED, ("its bytes or its name are not those that were written",))
    registry_entry = approval_registry.read_entry(project, approval.id)
    if registry_entry.is_revoked:
        return CheckedApproval(stored, REVOKED, ())
    if any([approval_registry.read_entry(project, origin).is_revoked for origin in approval.origins]):
        return CheckedApproval(stored, REVOKED, ("the approval that covers this revision was revoked",))
    only_run_id = approval.derived_from.run if approval.derived_from is not None else ""
    if only_run_id and only_run_id != run_id:
        return CheckedApproval(stored, USED, (f"it is for the run {only_run_id}, whose revision it covers",))
    if registry_entry.run_id and registry_entry.run_id != run_id:
        return CheckedApproval(stored, USED, (f"it was used by the run {registry_entry.run_id}",))
    if reason := validity_problem(approval.terms(NEVER), now().timestamp()):
        return CheckedApproval(stored, EXPIRED, (reason,))
    if isinstance(candidate, str):
        return CheckedApproval(stored, STALE, (candidate,))
    drift_lines = _find_drift(
        project,
        approval,
        candidate,
        {**approval.binding.states, **candidate.binding.states} if registry_entry.run_id else ignored_paths,
        is_resume=bool(registry_entry.run_id),
    )
    return CheckedApproval(stored, STALE if drift_lines else APPROVED, drift_lines)


def _find_drift(
    project: Project,
    approval: Approval,
    candidate: ApprovalCandidate,
    ignored_paths: Collection[str],
    *,
    is_resume: bool,
) -> tuple[str, ...]:
    """Return the changes since an approval, one per line.

    A resume skips files, programs and commits: the run changed them and compares them separately.
    """
    lines = []
    if approval.place != checkout_digest(project):
        lines.append("it was given in another checkout")
    if approval.plan_id != candidate.current_plan.document.plan_id:
        lines.append(f"it was given for the plan {approval.plan_id}")
    elif approval.revision != candidate.current_plan.document.revision:
        lines.append(
            f"it was given for revision {approval.revision}, this is {candidate.current_plan.document.revision}"
        )
    approved_binding, current_binding = [
        binding._replace(states={path: state for path, state in binding.states.items() if path not in ignored_paths})
        for binding in (approval.binding, candidate.binding)
    ]
    if is_resume or candidate.policy.programs != "refuse":
        current_binding = current_binding._replace(programs=None)
    lines += drift(approved_binding, current_binding)
    if candidate.current_plan.stale_reason and approved_binding.document == current_binding.document:
        lines.append(f"{candidate.current_plan.path}: {candidate.current_plan.stale_reason}")
    if not is_resume and candidate.policy.pin == "tree" and approval.tree != git_tree.tree_digest(project):
        lines += git_tree.changed_files(project, approval.head) or (
            "HEAD: holds other files than when it was approved",
        )
    return tuple(lines)


def require_approved_status(
    project: Project, ref: PlanRef, *, run_id: str = "", with_programs: bool = True
) -> ApprovalStatus:
    """Return the status of a plan that may run or resume a run. Raises ExecplanError if it may not."""
    candidate = find_candidate(project, ref, with_programs=with_programs)
    best_approval = require_valid_approval(project, ref, candidate, run_id)
    return ApprovalStatus(APPROVED, best_approval.stored.approval, (), best_approval.stored.path, candidate)


def require_valid_approval(
    project: Project,
    ref: PlanRef,
    candidate: ApprovalCandidate | None = None,
    run_id: str = "",
    ignored_paths: Collection[str] = (),
) -> CheckedApproval:
    """Return the valid approval of a plan. Raises ExecplanError if there is none."""
    best_approval = _select_best(
        check_approvals(project, ref, candidate or find_candidate(project, ref), run_id, ignored_paths)
    )
    if best_approval is None or best_approval.state != APPROVED:
        raise approval_error(ref, best_approval)
    return best_approval


def approval_error(ref: PlanRef, checked_approval: CheckedApproval | None) -> ExecplanError:
    """Return the error for a plan that is not approved, with the changes since approval."""
    hint = f"look at it, then approve it: execplan evaluate {ref.shell_name}; execplan approve {ref.shell_name}"
    if checked_approval is None:
        return ExecplanError("not-approved", f"nobody has approved {ref.id}", exit=POLICY, hint=hint)
    subject, reasons = f"the approval {checked_approval.stored.digest[:12]} of {ref.id}", checked_approval.reasons
    if checked_approval.state == REVOKED:
        return ExecplanError("not-approved", f"{subject} was revoked", exit=POLICY, hint=hint, candidates=reasons)
    if checked_approval.state == USED:
        message = f"{subject} was used: it serves one run and its resumes"
        return ExecplanError("approval-used", message, exit=CONFLICT, hint=hint, candidates=reasons)
    if checked_approval.state == EXPIRED:
        message = f"{subject} does not hold at this time"
        return ExecplanError("approval-expired", message, exit=CONFLICT, hint=hint, candidates=reasons)
    if checked_approval.state == ALTERED:
        message = f"{subject} is not as it was sealed"
        return ExecplanError("approval-altered", message, exit=CONFLICT, hint=hint, candidates=reasons)
    message = f"{subject} is stale: something has changed since"
    return ExecplanError("stale-approval", message, exit=CONFLICT, hint=hint, candidates=reasons)


def checkout_digest(project: Project) -> str:
    """Return the digest of the checkout's real path."""
    return digest(os.fsencode(os.path.realpath(project.root)))
