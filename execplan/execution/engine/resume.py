"""Resume of a paused, interrupted, killed or failed run: verifies completed steps and recovers interrupted ones."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from execplan.core import features
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.errors import ExecplanError
from execplan.core.project.project_discovery import require_existing
from execplan.execution import rare_features, states
from execplan.execution.approvals.approval_paths import list_paths
from execplan.execution.approvals.approved_plan import require_approved_plan
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.engine import run_questions, run_setup, stop_reasons
from execplan.execution.engine.approved_steps import require_approved_steps, resumed_schedule
from execplan.execution.engine.executors.executor_choice import executor_field, open_executor, resumed_jobs
from execplan.execution.engine.journal.journal_entries import STOP, UNKNOWN, state_json
from execplan.execution.engine.journal.journal_writer import open_run
from execplan.execution.engine.recovery.interrupted_attempts import InterruptionRecovery
from execplan.execution.engine.run_loop import finish_loop, open_loop
from execplan.execution.engine.run_observer import FinishedRun
from execplan.execution.engine.run_preconditions import (
    ensure_no_unfinished_run,
    ensure_run_programs_unchanged,
    ensure_same_document,
    programs_json,
)
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.run_records import record_builder
from execplan.execution.engine.run_records.run_summary import load_run_state, read_run_entries
from execplan.execution.engine.run_session import finish_failed_run, finish_session, start_session
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_executor import StepExecutor
from execplan.execution.engine.stop_reasons import StopReason, stopped_at_question
from execplan.execution.engine.telemetry.span_sending import send_spans

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.execution.approvals.approved_plan import ApprovedPlan
    from execplan.execution.engine.agent_runs.agent_run_update import AgentRunUpdate
    from execplan.execution.engine.attempt_pool import AttemptPool
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.run_observer import RunObserver
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_session import RunSession
    from execplan.execution.engine.run_state import Question, RunState


def resume(
    run_paths: RunPaths,
    answer: str | None,
    observer: RunObserver,
    options: WriteOptions,
    *,
    jobs: int | None = None,
    executor: StepExecutor | None = None,
    executor_text: str = "",
) -> FinishedRun:
    """Resume a run from its journal. Raises ExecplanError if it cannot, or if a disk fails.

    `jobs` defaults to the run's own number, or to what the workers take. `executor_text` says where commands may run, as in `RunOptions`.
    """
    project, ref = run_paths.project, run_paths.ref
    require_existing(project)
    ensure_not_archived(project, ref)
    _ensure_approvals_exist(run_paths)
    options.prepare_commit(project)
    with open_run(run_paths, observer, f"resume of run {run_paths.id} of {ref.id}") as journal_writer:
        _file_ended_run(run_paths, journal_writer)
        ensure_can_resume(run_paths, journal_writer.run_state)
        ensure_no_unfinished_run(project, ref, run_paths)
        session = start_session(run_paths, effective_policy(project), journal_writer, options)
        finished = _resume_session(session, answer, jobs, executor, executor_text)
    trace_warnings = send_spans(run_paths, journal_writer)
    return finished._replace(warnings=(*finished.warnings, *trace_warnings))


def _ensure_approvals_exist(run_paths: RunPaths) -> None:
    """Raise ExecplanError if git has taken the approvals away, before anything is written where it will put them back.

    Those that a step in progress has removed are restored.
    """
    ref = run_paths.ref
    if list_paths(run_paths.project, ref) or load_run_state(run_paths, read_run_entries(run_paths)).open_attempts():
        return
    raise ExecplanError(
        "not-approved",
        f"all approvals of {ref.id} are missing",
        hint=(
            "if they are in a stash or on another branch, bring them back with git; else approve the steps again: "
            f"execplan evaluate {ref.shell_name}"
        ),
    )


def _resume_session(
    session: RunSession, answer: str | None, jobs: int | None, executor: StepExecutor | None, executor_text: str
) -> FinishedRun:
    """Resume a run whose journal is open. Raises ExecplanError."""
    journal_writer, run_state = session.journal_writer, session.journal_writer.run_state
    finished = finish_failed_run(session)
    if finished is not None:
        return finished
    agent_update = _open_agent_update(session) if run_state.is_agent_run else None
    if agent_update is not None:
        question = agent_update.find_question(is_required=answer is None)
    else:
        question = run_state.question
    source = "resume"
    if question is None:
        ensure_answer_expected(run_state, answer)
        reply = answer
    else:
        reply = run_questions.resolve_answer(question, answer, stop_rolls_back=journal_writer.observer.stop_rolls_back)
        source = source if reply is not None or agent_update is not None else "terminal"
        reply = reply or journal_writer.observer.ask(question)
        if reply is None:
            return FinishedRun(session.run_paths.id, run_state.status, question)
        if reply == STOP:
            return _stop_at_question(session, agent_update, question, source)
    if agent_update is not None:
        return agent_update.resume(question, reply or "")
    with open_executor(executor_text) as remote:  # now that nobody is waited for
        run_jobs = jobs or resumed_jobs(remote, run_state.begin_fields)
        return _continue(session, _Reply(question, reply, source), run_jobs, executor or StepExecutor(remote))


def _file_ended_run(run_paths: RunPaths, journal_writer: JournalWriter) -> None:
    """Finish filing a run that was killed after its last entry: save the record and update the audit log's anchor.

    Raises ExecplanError.
    """
    if journal_writer.run_state.status in (states.COMPLETED, states.ROLLED_BACK):
        record_builder.file_record(run_paths, journal_writer)


def ensure_can_resume(run_paths: RunPaths, run_state: RunState) -> None:
    """Raise ExecplanError if nothing of the run is left to resume, or if its rollback was interrupted."""
    ref = run_paths.ref
    if run_state.open_rollback is not None:
        raise ExecplanError(
            "run-cut-short",
            f"a rollback of run {run_paths.id} was interrupted",
            hint=f"finish it: execplan rollback {run_paths.number} -p {ref.shell_name}",
        )
    if run_state.status in (states.COMPLETED, states.ROLLED_BACK):
        raise ExecplanError(
            "nothing-to-resume",
            f"run {run_paths.id} is {run_state.status.replace('_', ' ')}: nothing is left to do",
            hint=f"see what is next: execplan next {ref.shell_name}",
        )


def ensure_answer_expected(run_state: RunState, answer: str | None) -> None:
    """Raise ExecplanError for an answer to a run that waits for none and cannot need one."""
    is_waiting = not run_state.is_agent_run and (
        run_state.open_attempts() or InterruptionRecovery.unknown_outcomes(run_state)
    )
    if answer is not None and not is_waiting:
        message = "the run is not waiting for an answer"
        raise ExecplanError("bad-answer", message, hint="omit --answer: execplan resume")


class _Reply(NamedTuple):
    """The answer with which a run continues."""

    question: Question | None = None
    """The question that the run waited for."""
    answer: str | None = None
    source: str = ""

    @property
    def is_about_unknown(self) -> bool:
        """Whether the answer is about an attempt whose outcome is unknown, if there is one."""
        return self.question is None or self.question.why == UNKNOWN


def _open_agent_update(session: RunSession) -> AgentRunUpdate:
    from execplan.execution.engine.agent_runs.agent_run_update import AgentRunUpdate

    return AgentRunUpdate(session)


def _stop_at_question(
    session: RunSession, agent_update: AgentRunUpdate | None, question: Question, source: str
) -> FinishedRun:
    """End the run at its question. Nothing runs, so no approval is needed."""
    Prompter.record_answer(session.journal_writer, question, STOP, source)
    if agent_update is not None:
        return agent_update.stop(stopped_at_question(question))
    schedule = Schedule(session.journal_writer.run_state.document, None, lambda path: False)
    return finish_session(session, schedule, stopped_at_question(question), "", [])


def continue_with_revision(session: RunSession, finished: FinishedRun, attempt_pool: AttemptPool) -> FinishedRun:
    """Continue with the revision that a session of the run led to, if an approval covers it. Raises ExecplanError.

    `attempt_pool` is that of the session, whose time limit still applies.
    """
    if not finished.continues:
        return finished
    seconds = max(1, int(attempt_pool.deadline - monotonic()))
    continued = _continue(session, _Reply(), attempt_pool.jobs, attempt_pool.executor, seconds)
    return continued._replace(warnings=(*finished.warnings, *continued.warnings))


def _continue(
    session: RunSession, reply: _Reply, jobs: int, executor: StepExecutor, seconds: int | None = None
) -> FinishedRun:
    """Continue the run from its remaining steps. Raises ExecplanError."""
    run_paths, journal_writer, run_state = session.run_paths, session.journal_writer, session.journal_writer.run_state
    project, ref = run_paths.project, run_paths.ref
    try:
        ensure_same_document(run_paths, journal_writer.journal.entries)
    except ExecplanError as error:
        if run_state.open_attempts():  # only the steps that the run began with tell what an interrupted one has done
            rollback = f"execplan rollback {run_paths.number} -p {ref.shell_name}"
            error.hint = f"change them back, then repeat this command; or roll the run back: {rollback}"
        raise
    approved_plan = require_approved_plan(project, ref, run_id=run_paths.id)
    run_state.document = approved_plan.document
    context = run_setup.make_context(run_paths, approved_plan, journal_writer.observer, seconds)
    schedule = resumed_schedule(run_state, lambda path: executor.path_exists(context, path))
    approved_steps = require_approved_steps(approved_plan, schedule, run_state)
    differences = ensure_run_programs_unchanged(run_paths, run_state, approved_steps.steps, approved_plan)
    run_setup.create_state_directory(run_paths)
    with open_loop(session, context, approved_steps, executor, jobs) as loop:
        recovery = InterruptionRecovery(loop.attempt_pool, schedule, loop.prompter)
        features.load(rare_features.LOST_SERVICES)(context, journal_writer)
        recovery.inspect()
        unknown_reply = reply if reply.is_about_unknown else reply._replace(answer=None)
        unknown_question = recovery.next_question()
        if unknown_question is not None and unknown_reply.answer is None:
            unknown_reply = _Reply(unknown_question, loop.prompter.ask(unknown_question), "terminal")
            if unknown_reply.answer is None:
                return _leave_unanswered(session, unknown_question, context.stop.signal)
        warnings = run_setup.show_warnings(context, approved_steps.steps, differences)
        _write_resumed(session, approved_plan, recovery, executor.executor.name if executor.executor else "")
        journal_writer.observer.begin(run_paths.id, approved_steps.steps)
        if reply.question is not None and not reply.is_about_unknown:
            loop.apply_answer(reply.question, reply.answer or "", reply.source)
        stop_reason = recovery.resolve(unknown_reply.answer, unknown_reply.source) or loop.run_until_stopped()
        finished = finish_loop(session, loop, stop_reason, warnings)
    return continue_with_revision(session, finished, loop.attempt_pool)


def _leave_unanswered(session: RunSession, question: Question, signal: str) -> FinishedRun:
    """Leave a run paused because a question that must be answered before a resume has no answer.

    Raises ExecplanError.
    """
    run_state = session.journal_writer.run_state
    if signal or run_state.status in states.ENDED_RUN_STATES or run_state.question == question:
        return FinishedRun(session.run_paths.id, run_state.status, question, signal)
    return finish_session(session, None, StopReason(stop_reasons.PAUSED, question.step, question=question), "", [])


def _write_resumed(
    session: RunSession, approved_plan: ApprovedPlan, recovery: InterruptionRecovery, executor_text: str
) -> None:
    """Record the resume; a new approval applies to the run from now on. Raises ExecplanError."""
    run_state, binding = session.journal_writer.run_state, approved_plan.binding
    is_new_approval = approved_plan.approval.id != run_state.approval_fields["approval_id"]
    run_setup.use_approval(session.run_paths, approved_plan)
    run_setup.write_resumed(
        session.journal_writer,
        approved_plan,
        failed=recovery.stay_failed,
        states={path: state_json(file_state) for path, file_state in binding.states.items()} if is_new_approval else {},
        programs=programs_json(binding.programs) if is_new_approval else {},
        **executor_field(executor_text),
    )
