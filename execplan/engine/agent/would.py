"""What a report would record, with nothing written, kept or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import begin as begins
from execplan.engine import place as places
from execplan.engine.agent import begin, current
from execplan.engine.agent.asked import step_question
from execplan.engine.agent.judge import COMPLETED, StepReport, check_report
from execplan.engine.agent.moment import build_context
from execplan.engine.agent.reported import ReportOutcome, find_open_attempt, find_recorded_outcome, build_schedule, find_step, ensure_inputs_unchanged
from execplan.engine.course import Attempt, RunState
from execplan.engine.opened import make_redaction
from execplan.engine.steps.named import list_declared_paths
from execplan.repo.execution import standing

if TYPE_CHECKING:
    from execplan.engine.agent.current import AgentRun
    from execplan.engine.place import RunPaths
    from execplan.engine.schedule import Schedule
    from execplan.execution.model import Step
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


def preview_report(project: Project, ref: PlanRef, name: str, step_report: StepReport) -> ReportOutcome:
    """What would be recorded, with nothing written, kept or run; raises ExecplanError as it would."""
    agent_run = begin.find_reported_run(project, ref, name)
    recorded_outcome = find_recorded_outcome(project, agent_run, name, step_report) if agent_run is not None else None
    if recorded_outcome is not None:
        return recorded_outcome
    run_paths, run_state, step, attempt = resolve_attempt(project, ref, agent_run, name)
    context = build_context(project, ref, run_paths, run_state)
    if step_report.status == COMPLETED:
        ensure_inputs_unchanged(context, run_state, step)
    check_result, observed_changes = check_report(context, step, attempt, run_state, step_report, None)
    return ReportOutcome(
        run_paths.id if agent_run is not None and agent_run.is_active else "",
        step,
        None,
        not check_result.cause,
        already_recorded=False,
        reason=make_redaction().redact_text(check_result.reason or step_report.result),
        changes=observed_changes.changes,
        recovery=None,
        next_steps=(),
        status=run_state.status,
        finished=None,
        task_text="",
        untested=step_report.status == COMPLETED and step.validation.test_after is not None,
    )


def resolve_attempt(project: Project, ref: PlanRef, agent_run: AgentRun | None, name: str) -> tuple[RunPaths, RunState, Step, Attempt]:
    """The run, the step and the attempt that a report would be of; raises ExecplanError where there can be none."""
    if agent_run is not None and agent_run.is_active:
        run_paths, run_state = agent_run.run_paths, agent_run.run_state
    else:
        begins.ensure_no_unfinished_run(project, ref)
        run_paths, run_state = places.next_run(project, ref), RunState(standing.find_candidate(project, ref).current_plan.document)
    step = find_step(run_state.document, name)
    attempt = find_open_attempt(run_state, step)
    if attempt is None:
        attempt = _preview_attempt(project, ref, agent_run, run_state, step, build_schedule(project, run_state))
    return run_paths, run_state, step, attempt


def _preview_attempt(project: Project, ref: PlanRef, agent_run: AgentRun | None, run_state: RunState, step: Step, schedule: Schedule) -> Attempt:
    """The attempt that would be begun; raises ExecplanError where it is not permitted."""
    is_active = agent_run is not None and agent_run.is_active
    if agent_run is not None and is_active:
        current.ensure_not_waiting(ref, agent_run)
    status = begin.require_approval(project, ref, agent_run.run_paths.id if agent_run is not None and is_active else "", step.id)
    assert status.approval is not None
    run_state.expected_states = {**status.approval.binding.states, **run_state.expected_states}
    permit = begins.permit_for(status, schedule)
    permission, question = permit.begin(step, run_state), step_question(step, run_state, permit.interval)
    if question is not None and agent_run is not None:
        raise current.waiting_error(ref, agent_run.run_paths, question)
    states_of = {path: run_state.expected_states[path] for path in list_declared_paths(step) if path in run_state.expected_states}
    return Attempt(len(run_state.attempts.get(step.id, ())) + 1, None, states_of, permission.approved_by)
