"""What a resume would go on with, with nothing done: what was cut short, what is asked, and the steps that are still to be done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.approvals import approval_status
from execplan.edits.plan_writer import ensure_not_archived
from execplan.engine import run_questions, run_setup
from execplan.engine.journal import journal
from execplan.engine.journal.journal_writer import never_begun_error
from execplan.engine.recovery.interrupted_attempts import InterruptionRecovery, ensure_not_drifted
from execplan.engine.replanning import run_revisions
from execplan.engine.resume import ensure_answer_expected, ensure_can_resume, remaining_steps
from execplan.engine.run_lock import acquire_run_lock, run_lock_holder
from execplan.engine.run_state import RunState
from execplan.engine.schedule import Schedule
from execplan.engine.workspace.workspace_files import WorkspaceFiles
from execplan.project.project_discovery import require_existing

if TYPE_CHECKING:
    from execplan.approvals.approval_status import ApprovalStatus
    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.engine.run_state import Question
    from execplan.execution.execution_plan import Step
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


class ResumePreview(NamedTuple):
    """What a resume would go on with."""

    run: str
    question: Question | None
    """What the run waits for."""
    answer: str | None
    """What would be answered to that; None where nothing is, and it would be asked again."""
    interrupted_steps: tuple[str, ...]
    """The steps that were cut short, which are looked at first: what one has done is taken back, unless it may run only once."""
    steps: tuple[Step, ...]
    """Those that are still to be done, in their order."""


def preview_resume(project: Project, ref: PlanRef, run_paths: RunPaths, answer: str | None) -> ResumePreview:
    """Look at what `resume` would do, and write nothing; raises ExecplanError where it would be refused."""
    require_existing(project)
    ensure_not_archived(project, ref)
    if run_lock_holder(project):
        with acquire_run_lock(project, "resume"):  # refuses, naming who is
            pass
    if not os.path.lexists(run_paths.journal) or not (entries := journal.read_journal(run_paths.journal)):
        raise never_begun_error(ref, run_paths)
    run_state = RunState(run_revisions.load_document(run_paths, entries), entries)
    ensure_can_resume(ref, run_paths, run_state)
    run_setup.ensure_no_unfinished_run(project, ref, run_paths)
    if run_state.question is None and not run_state.is_agent_run:
        ensure_answer_expected(run_state, answer)
    status = approval_status.require_approved_status(project, ref, run_id=run_paths.id)
    assert status.candidate is not None  # what may run compiles to something
    assert status.approval is not None
    run_setup.ensure_same_document(ref, run_paths, run_state, status)
    workspace = WorkspaceFiles(project)
    run_state.document = status.candidate.current_plan.document
    step_ids = None if run_state.replans else run_state.begin_fields["chosen"]
    schedule = Schedule(run_state.document, step_ids, lambda path: workspace.state(path).kind != "absent")
    steps = remaining_steps(run_state, schedule)
    if run_state.is_agent_run:
        return _preview_agent_run(run_paths, run_state, schedule, steps, status, answer)
    run_setup.ensure_steps_approved(run_setup.permit_for(status, schedule), status.approval, steps)
    if status.approval.id == run_state.approval_fields["approval_id"]:
        run_setup.ensure_run_programs_unchanged(project, ref, run_paths, run_state, steps, status.candidate.policy)
    interrupted_steps = [name for name, _ in run_state.open_attempts()] + [
        step.id for step, _ in InterruptionRecovery.unknown_outcomes(run_state)
    ]
    ensure_not_drifted(run_state, workspace, _touched_paths(run_state, interrupted_steps))
    effective_answer = (
        run_questions.resolve_answer(run_state.question, answer) if run_state.question is not None else answer
    )
    return ResumePreview(run_paths.id, run_state.question, effective_answer, tuple(interrupted_steps), tuple(steps))


def _preview_agent_run(
    run_paths: RunPaths,
    run_state: RunState,
    schedule: Schedule,
    steps: list[Step],
    status: ApprovalStatus,
    answer: str | None,
) -> ResumePreview:
    """Of an agent's run: what is in hand is the agent's, and nothing of it is looked at."""
    from execplan.engine.agent_runs.agent_resume import next_question

    assert status.candidate is not None  # as above
    question = run_state.question or (
        next_question(run_state, schedule, status.candidate.policy.checkpoint_interval) if answer else None
    )
    if question is None:
        ensure_answer_expected(run_state, answer)
    effective_answer = run_questions.resolve_answer(question, answer) if question is not None else None
    return ResumePreview(run_paths.id, question, effective_answer, (), tuple(steps))


def _touched_paths(run_state: RunState, interrupted_steps: list[str]) -> set[str]:
    """The paths that steps which were cut short may have changed, as far as anybody knows before it is looked at."""
    attempts = [run_state.attempts[name][-1] for name in interrupted_steps]
    changed_paths = [
        change.path for attempt in attempts if attempt.performed is not None for change in attempt.performed.changes
    ]
    return {*changed_paths, *[path for attempt in attempts for path in attempt.before]}
