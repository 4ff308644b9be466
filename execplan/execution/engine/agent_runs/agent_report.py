"""Agents' step reports: checking and recording a step's result, and applying the consequences."""

from __future__ import annotations

from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError, interrupted_error
from execplan.core.plan_store.hint_reader import ASK
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.execution import states
from execplan.execution.approvals.approved_plan import ApprovedPlan, find_candidate
from execplan.execution.engine.agent_runs import agent_run_lookup, agent_start, undeclared_changes
from execplan.execution.engine.agent_runs.agent_run_lookup import AgentRun
from execplan.execution.engine.agent_runs.agent_run_update import AgentRunUpdate, build_context, open_run_update
from execplan.execution.engine.agent_runs.agent_transitions import next_steps
from execplan.execution.engine.agent_runs.recorded_reports import (
    COMPLETED,
    FAILED,
    ReportOutcome,
    StepReport,
    build_schedule,
    ensure_inputs_unchanged,
    find_open_attempt,
    find_recorded_outcome,
    find_step,
    recovery_advice,
)
from execplan.execution.engine.agent_runs.report_evaluation import check_report, evaluate_report, files_without_backup
from execplan.execution.engine.approved_steps import permit_for
from execplan.execution.engine.commands.command_environment import make_redaction
from execplan.execution.engine.commands.stop_signal import SignalHandlers
from execplan.execution.engine.error_hints import add_hint_on_error, continue_ended_run, describe_end
from execplan.execution.engine.journal.journal_entries import INTENT, RESULT, attempt_result_json
from execplan.execution.engine.run_lock import acquire_run_lock
from execplan.execution.engine.run_preconditions import ensure_no_unfinished_run, ensure_same_document
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import Attempt, Question, RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_permission import step_question
from execplan.execution.engine.steps.step_paths import list_declared_paths
from execplan.execution.engine.stop_reasons import PAUSED, StopReason
from execplan.execution.engine.telemetry.span_sending import send_spans
from execplan.execution.execution_plan import Step


def preview_report(project: Project, ref: PlanRef, name: str, step_report: StepReport) -> ReportOutcome:
    """Return the result that a report would record, without writing, backing up or running anything.

    Raises ExecplanError in the same cases as the report.
    """
    agent_run = agent_start.find_reported_run(project, ref, name)
    result = make_redaction().redact_text(step_report.result)
    recorded_outcome = (
        find_recorded_outcome(project, agent_run, name, step_report, result) if agent_run is not None else None
    )
    if recorded_outcome is not None:
        return recorded_outcome
    run_paths, run_state, step, attempt = resolve_attempt(project, ref, agent_run, name, step_report.status)
    context = build_context(run_paths, run_state)
    if step_report.status == COMPLETED:
        ensure_inputs_unchanged(context.workspace, run_state, step)
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


def resolve_attempt(
    project: Project, ref: PlanRef, agent_run: AgentRun | None, name: str, status: str
) -> tuple[RunPaths, RunState, Step, Attempt]:
    """Return the run, the step and the attempt for a report. Raises ExecplanError if no report is possible."""
    if agent_run is not None and agent_run.is_active:
        run_paths, run_state = agent_run.run_paths, agent_run.run_state
    else:
        ensure_no_unfinished_run(project, ref)
        run_paths, run_state = (
            run_directories.next_run(project, ref),
            RunState(find_candidate(project, ref).document),
        )
    step = find_step(run_state.document, name)
    attempt = find_open_attempt(run_state, step)
    if attempt is None:
        schedule = build_schedule(project, run_state)
        attempt = _preview_attempt(project, ref, agent_run, run_state, step, status, schedule)
    return run_paths, run_state, step, attempt


def _open_question(run_state: RunState, step: Step, status: str, interval: int) -> Question | None:
    """Return the question to answer before a step is reported.

    A failed call about which the agent's program has asked its user needs no other answer: no program reports such a
    call, so it looks like a rejected one, and neither has completed the step.
    """
    was_asked = any([entry.fields["step"] == step.id for entry in run_state.asked_calls.values()])
    return None if status == FAILED and was_asked else step_question(step, run_state, interval)


def _preview_attempt(  # the parameters are those of the report
    project: Project,
    ref: PlanRef,
    agent_run: AgentRun | None,
    run_state: RunState,
    step: Step,
    status: str,
    schedule: Schedule,
) -> Attempt:
    """Return the attempt that would begin. Raises ExecplanError if the step is not permitted."""
    is_active = agent_run is not None and agent_run.is_active
    if agent_run is not None and is_active:
        agent_run_lookup.ensure_not_waiting(ref, agent_run)
        ensure_same_document(agent_run.run_paths, agent_run.entries)
    run = agent_run.run_paths.id if agent_run is not None and is_active else ""
    try:
        paths_at_work = run_state.states_before_work() if run else ()
        approved_plan = agent_start.require_agent_plan(project, ref, run, step.id, paths_at_work)
    except ExecplanError as error:
        unreported = schedule.order.open_dependencies(step, run_state)
        if error.code == "stale-approval" and unreported:
            command = f"execplan report {unreported[0]} -p {ref.shell_name} --status completed"
            error.hint = f"if this is the work of {unreported[0]}, report that first: {command}"
        raise
    run_state.expected_states = {**approved_plan.approval.binding.states, **run_state.expected_states}
    permit = permit_for(approved_plan, schedule)
    permission = permit.begin(step, run_state)
    question = _open_question(run_state, step, status, permit.interval)
    if question is not None and agent_run is not None:
        raise agent_run_lookup.waiting_error(agent_run.run_paths, question)
    states_of = {
        path: run_state.expected_states[path] for path in list_declared_paths(step) if path in run_state.expected_states
    }
    return Attempt(len(run_state.attempts.get(step.id, ())) + 1, None, states_of, permission.approved_by)


__all__ = ["COMPLETED", "FAILED", "ReportOutcome", "StepReport", "report"]


def report(project: Project, ref: PlanRef, step: str, step_report: StepReport, options: WriteOptions) -> ReportOutcome:
    """Record the result of a step, named by ID or number. Raises ExecplanError and then records nothing."""
    require_existing(project)
    ensure_not_archived(project, ref)
    if options.dry_run:
        return preview_report(project, ref, step, step_report)
    options.prepare_commit(project)
    with acquire_run_lock(project, f"report of {step} of {ref.id}", waits=True):
        agent_run = agent_start.find_reported_run(project, ref, step)
        result = make_redaction().redact_text(step_report.result)
        recorded_outcome = find_recorded_outcome(project, agent_run, step, step_report, result) if agent_run else None
        if agent_run is not None and recorded_outcome is not None:
            return _complete_recorded(project, ref, agent_run, recorded_outcome, options)
        run_paths, approved_plan = _find_or_start_run(project, ref, agent_run, step, step_report)
        retry_hint = f"then report it again: execplan report {step} -p {ref.shell_name}"
        with add_hint_on_error(retry_hint), open_run_update(run_paths, options) as update:
            outcome = _record_report(update, find_step(update.run_state.document, step), step_report, approved_plan)
    if outcome.status not in states.ENDED_RUN_STATES:
        return outcome
    trace_warnings = send_spans(run_paths, update.journal_writer)
    return outcome._replace(warnings=(*outcome.warnings, *trace_warnings))


def _complete_recorded(
    project: Project, ref: PlanRef, agent_run: AgentRun, outcome: ReportOutcome, options: WriteOptions
) -> ReportOutcome:
    """Return an outcome that was recorded before, and apply its consequences.

    The process that recorded it may have been killed before it wrote them.
    """
    if not agent_run.is_active:
        return outcome
    with open_run_update(agent_run.run_paths, options) as update:
        finished = update.advance()
        if update.run_state.status == states.IN_PROGRESS:
            upcoming_steps = tuple(next_steps(update.run_state, update.schedule))
        else:
            upcoming_steps = ()
    return outcome._replace(
        status=finished.status, finished=finished, next_steps=upcoming_steps, warnings=finished.warnings
    )


def _record_report(
    update: AgentRunUpdate, step: Step, step_report: StepReport, approved_plan: ApprovedPlan | None
) -> ReportOutcome:
    """Record a report in a run that has begun; without an approved plan, of the attempt in progress.

    The caller holds the lock.
    """
    run_state, session = update.run_state, update.session
    if step_report.status == COMPLETED:
        ensure_inputs_unchanged(update.context.workspace, run_state, step)
        if step.validation.test_after is not None:
            from execplan.execution.engine.commands.command_sandbox import find_sandbox

            find_sandbox(session.run_paths.project, session.policy)  # fails if a required sandbox is missing
    if approved_plan is None:
        attempt = run_state.attempts[step.id][-1]
    else:
        attempt = _begin_attempt(update, step, step_report.status, approved_plan)
    unsaved_paths = files_without_backup(update.context, step, attempt.before)
    with SignalHandlers(update.context.stop, lambda: None):
        performed = evaluate_report(update.context, step, attempt, run_state, step_report)
    if performed.cause == "interrupted":
        message = f"the test after {step.id} was interrupted; its result is not recorded"
        raise interrupted_error(update.context.stop.signal, message, "report it again")
    update.warnings += [
        f"{path}: its previous content was not saved, so it can't be compared or restored" for path in unsaved_paths
    ]
    if step_report.status == COMPLETED and step.expect is not None and step_report.evidence is None:
        update.warnings.append(f"the output of {step.id} was not checked: it was reported without --evidence")
    project, ref = session.run_paths.project, session.run_paths.ref
    plan_files = (ref.path, project.plan_artifacts_dir(ref.path, archived=False))
    plan_paths = [project.display_path(path) for path in plan_files]
    other_declared_paths = [
        path for name, _ in run_state.open_attempts() for path in list_declared_paths(update.schedule.steps_by_id[name])
    ]
    evidence_paths = [step_report.evidence_path] if step_report.evidence_path else []
    changed_paths = undeclared_changes.find_changes(
        session.run_paths, [*plan_paths, *other_declared_paths, *evidence_paths]
    )
    update.warnings += [f"{path} has changed, but no step in progress declares it" for path in changed_paths]
    update.journal_writer.write(RESULT, step=step.id, attempt=attempt.number, **attempt_result_json(performed))
    finished = update.advance()
    ticked_task = run_state.ticked_tasks.get(step.id, ("", ""))[0]
    return ReportOutcome(
        session.run_paths.id,
        step,
        performed,
        performed.ok,
        already_recorded=False,
        reason=(run_state.last_result(step.id) or performed).reason,  # as recorded: without secrets
        changes=performed.changes,
        recovery=None if performed.ok else recovery_advice(session.run_paths, run_state, step, performed),
        next_steps=tuple(next_steps(run_state, update.schedule)) if run_state.status == states.IN_PROGRESS else (),
        status=run_state.status,
        finished=finished,
        task_text=ticked_task,
        warnings=finished.warnings,
        has_calls=bool(attempt.calls),
    )


def _find_or_start_run(
    project: Project, ref: PlanRef, agent_run: AgentRun | None, step: str, step_report: StepReport
) -> tuple[RunPaths, ApprovedPlan | None]:
    """Return the run of a step and the approved plan; begin a run if there is none.

    A step that is in progress needs no new permission, so its plan is not checked: then the plan is None.
    """
    if agent_run is not None and agent_run.is_active:
        target_step = find_step(agent_run.run_state.document, step)
        if (
            agent_run.run_state.open_rollback is None
            and find_open_attempt(agent_run.run_state, target_step) is not None
        ):
            return agent_run.run_paths, None
    try:
        if agent_run is None or not agent_run.is_active:
            resolve_attempt(project, ref, None, step, step_report.status)  # a rejected report begins no run
        return agent_start.acquire_run(project, ref, step_report.session, step)
    except ExecplanError as error:
        if error.code == "approval-used" and agent_run is not None and not agent_run.is_active:
            number, run_state = agent_run.run_paths.number, agent_run.run_state
            error.message = f"run {agent_run.run_paths.id} of {ref.id} {describe_end(run_state.status)}"
            error.candidates = ()
            error.hint = continue_ended_run(run_state.status, number, ref.shell_name, run_state.executor, ASK)
        raise


def _begin_attempt(update: AgentRunUpdate, step: Step, status: str, approved_plan: ApprovedPlan) -> Attempt:
    """Begin an attempt that no call has begun. Raises ExecplanError if the step is not permitted."""
    run_state, session = update.run_state, update.session
    permit = permit_for(approved_plan, update.schedule)
    permission = permit.begin(step, run_state)
    question = _open_question(run_state, step, status, permit.interval)
    if question is not None:
        update.stop(StopReason(PAUSED, step.id, question=question))
        raise agent_run_lookup.waiting_error(session.run_paths, question)
    states_before = agent_start.expected_states_json(run_state.expected_states, list_declared_paths(step))
    number = len(run_state.attempts.get(step.id, ())) + 1
    update.journal_writer.write(
        INTENT, step=step.id, attempt=number, by=permission.approved_by, before=states_before, snapshot=False
    )
    return run_state.attempts[step.id][-1]
