"""Check whether a revision needs no new approval: everything in it was approved, and nothing else has changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from execplan.core.clock import now
from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.execution import approval_document
from execplan.execution.approval_document import REVISION, Approval
from execplan.execution.approvals import (
    approval_creation,
    approval_files,
    approval_key,
    approval_registry,
    approved_plan,
    artifact_store,
    git_tree,
)
from execplan.execution.approvals.approval_files import StoredApproval
from execplan.execution.approvals.current_plan import CurrentPlan
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.approvals.plan_evaluation import EvaluatedPlan, evaluate_document
from execplan.execution.attributes import named_alternative
from execplan.execution.binding import describe_difference
from execplan.execution.engine import approval_audit, step_order
from execplan.execution.engine.journal.journal_entries import REVISION_REASONS
from execplan.execution.engine.recovery.failure_recovery import ALTERNATIVE
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_summary import make_active_run
from execplan.execution.engine.run_state import RunState
from execplan.execution.evaluation.approval_scope import approval_scope
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.permission import NEVER, find_approver, validity_problem
from execplan.execution.program_lookup import describe_changed_programs
from execplan.execution.revision.approval_coverage import RunProgress, find_uncovered_changes

MAX_DERIVED_REVISIONS: Final = 10
"""Maximum number of consecutive revisions that one approval covers before a person has to review again."""


class RevisionCoverage(NamedTuple):
    """The approval that covers a revision, or why a person has to approve it."""

    approval: Approval | None
    reasons: tuple[str, ...] = ()
    """Why no approval covers the revision, one reason per line."""
    evaluated_plan: EvaluatedPlan | None = None
    """The evaluation of the revision."""
    derived_approval: Approval | None = None
    """The approval that was derived for the revision and recorded."""


def find_coverage(run_paths: RunPaths, run_state: RunState, revision: ExecutionPlan) -> RevisionCoverage:
    """Find the approval of a run that covers its next revision. Writes nothing. Raises ExecplanError on disk errors."""
    try:
        approval = _find_run_approval(run_paths)
        approved_document = _approved_document(run_paths, approval)
        reasons = find_uncovered_changes(approved_document, revision, _run_progress(approved_document, run_state))
        if reasons:
            return RevisionCoverage(None, tuple(reasons))
        _ensure_no_open_question(run_state)
        evaluated_plan = _evaluate_revision(run_paths, run_state, revision)
        reasons = [
            *_drift_reasons(run_paths.project, run_state, approval, evaluated_plan),
            *_unapproved_reasons(approval, evaluated_plan),
        ]
        if reasons:
            return RevisionCoverage(None, tuple(reasons))
        approval_creation.ensure_approvable(run_paths.project, run_paths.ref, evaluated_plan)
        return RevisionCoverage(approval, evaluated_plan=evaluated_plan)
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return RevisionCoverage(None, (error.message, *error.candidates))


def derive_approval(run_paths: RunPaths, coverage: RevisionCoverage) -> RevisionCoverage:
    """Derive and record the approval of a revision that is already stored.

    If something has changed in the meantime, the result has no approval. Raises ExecplanError if a disk fails. The
    caller must have the run lock.
    """
    approval, evaluated_plan = coverage.approval, coverage.evaluated_plan
    if approval is None or evaluated_plan is None:
        return coverage
    pending_ids = tuple(
        [evaluated_step.step.id for evaluated_step in evaluated_plan.evaluation.steps if not evaluated_step.is_done]
    )
    risk = approval.max_risk.value if approval.max_risk is not None else None
    confirmation = approval_creation.Confirmation(
        approval.approver, REVISION, 0, risk, pending_ids, approval.inferred, approval, run_paths.id
    )
    try:
        approved_scope = approval_scope(evaluated_plan.evaluation, risk, pending_ids)
        derived_approval = approval_audit.approve_and_record(
            run_paths.project, run_paths.ref, evaluated_plan, approved_scope, confirmation, WriteOptions(commit=False)
        ).approval
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return RevisionCoverage(None, (error.message, *error.candidates))
    return coverage._replace(derived_approval=derived_approval)


def _ensure_no_open_question(run_state: RunState) -> None:
    """Raise ExecplanError if a question to a person is open or a person has stopped the run.

    A revision cannot answer for a person.
    """
    question = run_state.question
    if question is not None and question.why not in REVISION_REASONS:
        raise _not_covered_error(f"a person must answer first: {question.words}")
    if run_state.end_entry is not None and run_state.end_entry.fields.get("cause") == "cancellation":
        raise _not_covered_error("a person has stopped the run")


def _find_run_approval(run_paths: RunPaths) -> Approval:
    """Return the run's latest approval if it is still valid. Raises ExecplanError otherwise."""
    stored_approvals = approval_files.select_readable(approval_files.read_all(run_paths.project, run_paths.ref))
    run_approvals = [stored for stored in stored_approvals if _serves_run(stored.approval, run_paths)]
    if not run_approvals:
        raise _not_covered_error(f"run {run_paths.id} has no remaining approval")
    latest = max(reversed(run_approvals), key=lambda stored: stored.approval.revision)
    approval = latest.approval
    for reason in _invalid_reasons(run_paths.project, latest, stored_approvals):
        raise _not_covered_error(f"approval {approval.digest[:12]} is no longer valid: {reason}")
    return approval


def _serves_run(approval: Approval, run_paths: RunPaths) -> bool:
    if approval.derived_from is not None:
        run = approval.derived_from.run
    else:
        run = approval_registry.read_entry(run_paths.project, approval.id).run_id
    return run == run_paths.id


def _invalid_reasons(
    project: Project, stored_approval: StoredApproval, stored_approvals: list[StoredApproval]
) -> Iterator[str]:
    """Yield the reasons why an approval is no longer valid."""
    approval, signing_key = stored_approval.approval, approval_key.read(project)
    if approval.ssh is not None:
        yield "people who sign with SSH keys approve each revision"
    elif (
        signing_key is None
        or not approval_document.verify_signature(approval, signing_key)
        or not stored_approval.is_intact
    ):
        yield "it was altered after it was signed"
    related_ids = {approval.id, *approval.origins}
    related_ids |= {
        other.approval.id for other in stored_approvals if approval.id in other.approval.origins
    }  # revoking the approval of a revision means wanting to be asked
    if any([approval_registry.read_entry(project, approval_id).is_revoked for approval_id in related_ids]):
        yield "it, or an approval derived from it, was revoked"
    if len(approval.origins) >= MAX_DERIVED_REVISIONS:
        yield f"{MAX_DERIVED_REVISIONS} revisions in a row have used the same approval"
    if reason := validity_problem(approval.terms(NEVER), now().timestamp()):
        yield reason
    policy = effective_policy(project)
    if approval.place != approved_plan.checkout_digest(project):
        yield "it was given in another checkout"
    if approval.policy != policy.version:
        yield "the policy has changed since"
    if policy.pin == "tree" and approval.tree != git_tree.tree_digest(project):
        yield "HEAD has different files than when it was given"


def _approved_document(run_paths: RunPaths, approval: Approval) -> ExecutionPlan:
    """Return the approved execution plan from the run's files. Raises ExecplanError."""
    for revision in (0, approval.revision) if approval.revision > 1 else (0,):
        name = run_revisions.document_name(revision)
        data = evidence_copies.read_document(run_paths, name)
        if digest(data) == approval.document:
            return load_document(data, ExecutionPlan, run_paths.artifact_path(name))
    raise _not_covered_error("the execution plan that it approves is no longer in the run directory")


def _run_progress(document: ExecutionPlan, run_state: RunState) -> RunProgress:
    """Return the progress of a run according to its journal."""
    alternatives = {
        step.id: alternative for step in document.steps if (alternative := named_alternative(step.on_failure.strategy))
    }
    steps_by_id = {step.id: step for step in document.steps}
    active_alternatives = {
        name: alternative_id
        for name, alternative_id in alternatives.items()
        if step_order.recovery_kind(steps_by_id[name], run_state) == ALTERNATIVE
    }
    return RunProgress(run_state.settled_steps, active_alternatives)


def _evaluate_revision(run_paths: RunPaths, run_state: RunState, revision: ExecutionPlan) -> EvaluatedPlan:
    """Evaluate a revision as `evaluate` will once it is stored. Raises ExecplanError."""
    project = run_paths.project
    data, path = document_bytes(revision), project.display_path(artifact_store.path_of(project, run_paths.ref))
    current_plan = CurrentPlan(revision, data, path, is_stored=True, stale_reason="", skipped_lines=())
    return evaluate_document(project, run_paths.ref, current_plan, make_active_run(run_paths, run_state, digest(data)))


def _drift_reasons(
    project: Project, run_state: RunState, approval: Approval, evaluated_plan: EvaluatedPlan
) -> Iterator[str]:
    """Yield the files and programs that differ from both their approved state and the state the run left them in."""
    from execplan.execution.world import ABSENT, State

    current_states = evaluated_plan.binding.states
    expected_states = run_state.expected_now(lambda path: current_states.get(path, State(ABSENT)))
    known_states = {**approval.binding.states, **expected_states}
    files_before = evaluated_plan.active_run.files_before if evaluated_plan.active_run is not None else {}
    for path, state in current_states.items():
        if path in files_before:
            continue  # the agent is still at work on it
        if path in known_states:
            reason = describe_difference(known_states[path], state)
        else:
            reason = "it is not part of the approval"
        if reason:
            yield f"{path}: {reason}"
    if evaluated_plan.policy.programs == "refuse":
        found_programs = evaluated_plan.binding.programs or {}
        yield from describe_changed_programs(
            {**(approval.binding.programs or {}), **run_state.programs}, found_programs
        )


def _unapproved_reasons(approval: Approval, evaluated_plan: EvaluatedPlan) -> Iterator[str]:
    """Yield the remaining steps that the approval does not cover."""
    terms = approval.terms(evaluated_plan.policy.person_from)
    for evaluated_step in evaluated_plan.evaluation.steps:
        if not evaluated_step.is_done and not find_approver(
            terms, evaluated_step.step.id, evaluated_step.risk.level, inferred=evaluated_step.step.inferred
        ):
            yield f"it does not cover step {evaluated_step.step.id}"


def _not_covered_error(message: str) -> ExecplanError:
    return ExecplanError("not-approved", message, hint="a person must approve it: execplan approve")
