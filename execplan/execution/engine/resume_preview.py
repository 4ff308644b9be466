"""Preview of a resume that changes nothing: interrupted steps, the open question, and the remaining steps."""

from __future__ import annotations

from typing import NamedTuple

from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.project.project_discovery import require_existing
from execplan.execution.approvals.approved_plan import ApprovedPlan, require_approved_plan
from execplan.execution.engine import run_questions
from execplan.execution.engine.approved_steps import remaining_steps, require_approved_steps, resumed_schedule
from execplan.execution.engine.recovery.interrupted_attempts import InterruptionRecovery, ensure_not_drifted
from execplan.execution.engine.resume import ensure_answer_expected, ensure_can_resume
from execplan.execution.engine.run_lock import acquire_run_lock, run_lock_holder
from execplan.execution.engine.run_preconditions import (
    ensure_no_unfinished_run,
    ensure_run_programs_unchanged,
    ensure_same_document,
)
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_summary import load_begun_run
from execplan.execution.engine.run_state import Question, RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.stop_reasons import CANCELLATION, is_rolled_back_after
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.execution_plan import Step


class ResumePreview(NamedTuple):
    """A preview of what a resume would do."""

    run: str
    question: Question | None
    """The question that the run waits for."""
    answer: str | None
    """The answer that would be given; None if there is none, so that the question would be asked again."""
    interrupted_steps: tuple[str, ...]
    """IDs of the interrupted steps, which are inspected first.

    Changes of an interrupted step are undone, unless it may run only once.
    """
    steps: tuple[Step, ...]
    """The steps that are still to run, in order."""


def preview_resume(run_paths: RunPaths, answer: str | None) -> ResumePreview:
    """Preview what `resume` would do, without writing anything. Raises ExecplanError if `resume` would be refused."""
    project, ref = run_paths.project, run_paths.ref
    require_existing(project)
    ensure_not_archived(project, ref)
    if run_lock_holder(project):
        with acquire_run_lock(project, "resume"):  # raises an error that names the lock owner
            pass
    entries, run_state = load_begun_run(run_paths)
    ensure_can_resume(run_paths, run_state)
    ensure_no_unfinished_run(project, ref, run_paths)
    if run_state.question is None and not run_state.is_agent_run:
        ensure_answer_expected(run_state, answer)
    ensure_same_document(run_paths, entries)
    approved_plan = require_approved_plan(project, ref, run_id=run_paths.id)
    workspace = WorkspaceFiles(project)
    run_state.document = approved_plan.document
    schedule = resumed_schedule(run_state, lambda path: workspace.state(path).kind != "absent")
    if run_state.is_agent_run:
        return _preview_agent_run(run_paths, run_state, schedule, approved_plan, answer)
    steps = require_approved_steps(approved_plan, schedule, run_state).steps
    ensure_run_programs_unchanged(run_paths, run_state, steps, approved_plan)
    interrupted_steps = [name for name, _ in run_state.open_attempts()] + [
        step.id for step, _, _ in InterruptionRecovery.unknown_outcomes(run_state)
    ]
    ensure_not_drifted(run_state, workspace, _touched_paths(run_state, interrupted_steps))
    effective_answer = (
        _resolve_answer(run_state, run_state.question, approved_plan, answer)
        if run_state.question is not None
        else answer
    )
    return ResumePreview(run_paths.id, run_state.question, effective_answer, tuple(interrupted_steps), tuple(steps))


def _preview_agent_run(
    run_paths: RunPaths,
    run_state: RunState,
    schedule: Schedule,
    approved_plan: ApprovedPlan,
    answer: str | None,
) -> ResumePreview:
    """Preview the resume of an agent's run. Its steps in progress belong to the agent and are not inspected."""
    from execplan.execution.engine.agent_runs.recorded_reports import next_question

    question = run_state.question or next_question(
        run_state, schedule, approved_plan.policy.checkpoint_interval, is_required=answer is None
    )
    if question is None:
        ensure_answer_expected(run_state, answer)
    effective_answer = _resolve_answer(run_state, question, approved_plan, answer) if question is not None else None
    return ResumePreview(run_paths.id, question, effective_answer, (), tuple(remaining_steps(schedule, run_state)))


def _resolve_answer(
    run_state: RunState, question: Question, approved_plan: ApprovedPlan, answer: str | None
) -> str | None:
    rolls_back = is_rolled_back_after(CANCELLATION, approved_plan.policy, run_state)
    return run_questions.resolve_answer(question, answer, stop_rolls_back=rolls_back)


def _touched_paths(run_state: RunState, interrupted_steps: list[str]) -> set[str]:
    """Return the paths that interrupted steps may have changed, as far as is known before inspection."""
    attempts = [run_state.attempts[name][-1] for name in interrupted_steps]
    changed_paths = [
        change.path for attempt in attempts if attempt.performed is not None for change in attempt.performed.changes
    ]
    return {*changed_paths, *[path for attempt in attempts for path in attempt.before]}
