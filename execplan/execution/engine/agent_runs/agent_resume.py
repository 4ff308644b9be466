"""Resuming an agent's run by a person: answering its question, using a new approval, and letting the agent continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import USAGE, ExecplanError
from execplan.core.plan_store import author
from execplan.execution import states
from execplan.execution.engine import run_questions, run_setup
from execplan.execution.engine.agent_runs import agent_start
from execplan.execution.engine.agent_runs.agent_run_update import AgentRunUpdate, build_context
from execplan.execution.engine.agent_runs.recorded_reports import next_question
from execplan.execution.engine.journal.journal_entries import REVISION_REASONS, SKIP, SKIPPED, STOP
from execplan.execution.engine.run_observer import FinishedRun
from execplan.execution.engine.run_preconditions import ensure_same_document
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.stop_reasons import stopped_at_question

if TYPE_CHECKING:
    from execplan.execution.engine.run_observer import RunObserver
    from execplan.execution.engine.run_session import RunSession
    from execplan.execution.engine.run_state import Question


def resume_agent_run(session: RunSession, answer: str | None, observer: RunObserver) -> FinishedRun:
    """Answer the open question, if there is one, and let the agent continue. Runs no steps. Raises ExecplanError."""
    update = AgentRunUpdate(
        session, build_context(session.project, session.ref, session.run_paths, session.journal_writer.run_state)
    )
    run_state = update.run_state
    question = run_state.question or next_question(
        run_state, update.schedule, session.policy.checkpoint_interval, is_required=answer is None
    )
    if question is None and answer is not None:
        message = "the run is not waiting for an answer"
        raise ExecplanError("bad-answer", message, exit=USAGE, hint="omit --answer: execplan resume")
    choice = run_questions.resolve_answer(question, answer) if question is not None else None
    if question is not None and choice is None:
        choice = observer.ask(question)
        if choice is None:
            return FinishedRun(session.run_paths.id, run_state.status, question)
    if question is not None and choice == STOP:
        Prompter.record_answer(session.journal_writer, question, STOP, "resume")
        return update.stop(stopped_at_question(question))
    _record_resume(update, question)
    if question is not None and question.why not in REVISION_REASONS:
        Prompter.record_answer(session.journal_writer, question, choice or "", "resume")
        if choice == SKIP:
            session.journal_writer.write(SKIPPED, step=question.step, reason="skipped by the person who was asked")
            update.tick_task(update.schedule.steps_by_id[question.step])
    return update.advance()


def _record_resume(update: AgentRunUpdate, question: Question | None) -> None:
    """Record that the run resumes.

    Failed steps run again if the run had ended; otherwise only the step in question does.
    """
    session, run_state = update.session, update.run_state
    ensure_same_document(session.project, session.ref, session.run_paths, session.journal_writer.journal.entries)
    approved_plan = agent_start.require_agent_plan(session.project, session.ref, session.run_paths.id, "")
    run_setup.create_state_directory(session.project, session.ref, session.run_paths)
    asked_step = question.step if question is not None else ""
    if run_state.end_entry is None:
        failed = [name for name in run_state.steps_with_status(states.FAILED) if name != asked_step]
    else:
        failed = []
    agent_start.record_resume(
        session.journal_writer,
        session.project,
        session.run_paths,
        approved_plan,
        author.session_id() or "",
        failed=failed,
    )
    update.schedule = Schedule(run_state.document, None, update.path_exists)
