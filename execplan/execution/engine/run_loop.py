"""Main loop of a run: begins steps that are ready, handles their outcomes, and repeats until nothing is left to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from execplan.core import features
from execplan.core.errors import CONFLICT, ExecplanError
from execplan.execution import rare_features, states
from execplan.execution.engine import run_questions, stop_reasons
from execplan.execution.engine.approved_steps import ApprovedSteps
from execplan.execution.engine.attempt_pool import AttemptOutcome, AttemptPool, is_outcome_unknown
from execplan.execution.engine.commands.stop_signal import SignalHandlers
from execplan.execution.engine.commands.supervisor_parent import SupervisorParent
from execplan.execution.engine.error_hints import add_resume_hint
from execplan.execution.engine.journal.journal_entries import AGAIN, SKIP, SKIPPED, STOP, AttemptResult
from execplan.execution.engine.recovery.failure_recovery import RETRY
from execplan.execution.engine.run_observer import FinishedRun
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.run_session import RunSession, finish_session
from execplan.execution.engine.run_state import Question
from execplan.execution.engine.schedule import NextSteps, Schedule, StepTransition
from execplan.execution.engine.step_executor import StepExecutor
from execplan.execution.engine.steps.run_context import RunContext
from execplan.execution.engine.steps.step_paths import runs_program
from execplan.execution.engine.stop_reasons import (
    StopReason,
    failed_step_reason,
    find_unrecovered_failure,
    follow_failure,
)
from execplan.execution.execution_plan import Step

_POLL_SECONDS: Final = 0.5
"""Seconds between checks for a stop request that could not wake the loop."""


class RunLoop:
    """The loop of one run session, from the beginning of a run or a resume until it stops."""

    def __init__(self, attempt_pool: AttemptPool, schedule: Schedule, prompter: Prompter) -> None:
        self.attempt_pool, self.schedule, self.prompter = attempt_pool, schedule, prompter
        self.stop_reason: StopReason | None = None
        """Why the loop stops. Once it is set, no step begins and running steps are awaited."""
        self._journal_writer, self._context = attempt_pool.journal_writer, attempt_pool.context
        self._run_state = attempt_pool.journal_writer.run_state
        self._retry_times: dict[str, float] = {}
        """Maps the ID of each step to retry to the time of the retry, by time.monotonic()."""
        self._questions: list[Question] = []

    def run_until_stopped(self) -> StopReason:
        """Run the loop until it stops, and return why.

        If something other than a step fails, raise the error after all running steps have ended.
        """
        self._resume_failures()
        while self.stop_reason is None or self.attempt_pool.running_steps:
            if self.stop_reason is None:
                self._check_stop()
            if self.stop_reason is None:
                self._run_guarded(self._advance)
            if self.attempt_pool.running_steps or (self._retry_times and self.stop_reason is None):
                self._wait()
        self._run_guarded(self.attempt_pool.stop_services)
        if self.stop_reason.error is not None:
            raise self.stop_reason.error
        if self._context.stop.is_set() and self.stop_reason.kind != stop_reasons.DONE:
            return StopReason(stop_reasons.SIGNAL)
        return self.stop_reason

    def _resume_failures(self) -> None:
        """Handle the failures that a killed run recorded without handling them."""
        for name, performed in self._run_state.failures():
            self._handle_failure(self.schedule.steps_by_id[name], performed)

    def _check_stop(self) -> None:
        """Set the stop reason if the run was stopped or has exceeded its time limit."""
        stop = self._context.stop
        if stop.is_set():
            self.stop_reason = StopReason(stop_reasons.SIGNAL)
        elif monotonic() >= self.attempt_pool.deadline and not set(self._run_state.status_of.values()) <= set(
            states.SUCCESS_STATES
        ):
            self._stop(StopReason(stop_reasons.FAILED, cause="timeout", reason="the run exceeded its time limit"))

    def _stop(self, reason: StopReason) -> None:
        """Stop beginning steps, and keep the first reason. An error outside of a step overrides other reasons."""
        if self.stop_reason is None or (reason.error is not None and self.stop_reason.error is None):
            self.stop_reason = reason
        if reason.error is not None and not self._context.stop.is_set():
            self._context.stop.set("trouble")

    def _advance(self) -> None:
        """Start retries that are due, ask the next question, and begin steps that are ready."""
        if self._is_service_missing():
            return
        for name in [name for name, retry_time in self._retry_times.items() if monotonic() >= retry_time]:
            del self._retry_times[name]
            self._start(self.schedule.steps_by_id[name])
        if self._questions and not self._busy_steps:
            self._ask(self._questions.pop(0))
        elif not self._questions:
            next_steps = self._find_next_steps()
            if next_steps is not None and self.stop_reason is None:
                self._begin(next_steps)

    def _find_next_steps(self) -> NextSteps | None:
        """Record the transitions that need no attempt, and return the steps that may begin.

        Returns None if the run fails instead.
        """
        while True:
            next_steps = self.schedule.find_next_steps(
                self._run_state,
                self.schedule.order.pending_alternatives(self._run_state),
                self._busy_steps,
                self.attempt_pool.jobs,
            )
            for transition in next_steps.transitions:
                self._write_transition(transition)
            is_stuck = not (next_steps.transitions or next_steps.begin or self._busy_steps or self._questions)
            stop_reason = find_unrecovered_failure(self._run_state, self.schedule.order, is_stuck=is_stuck)
            if stop_reason is not None:
                self._stop(stop_reason)
                return None
            if not next_steps.transitions:
                return next_steps

    def _write_transition(self, transition: StepTransition) -> None:
        """Record that a step does not run, and check off the task that it completes."""
        self._journal_writer.write_transition(transition)
        self.attempt_pool.tick_task(self.schedule.steps_by_id[transition.step])

    @property
    def _busy_steps(self) -> list[str]:
        """The steps that are running or waiting for a retry; both occupy a job."""
        return [*self.attempt_pool.running_steps, *self._retry_times]

    def _begin(self, next_steps: NextSteps) -> None:
        """Begin steps unless a question must be asked first. Without steps, and none busy, the run is done."""
        if not next_steps.begin:
            if not self._busy_steps:
                self.stop_reason = StopReason(stop_reasons.DONE)
            return
        question = run_questions.checkpoint_question(self._run_state, self._context.policy.checkpoint_interval)
        question = question or run_questions.confirm_question(self._run_state, next_steps.begin[0])
        question = question or run_questions.manual_question(self._run_state, next_steps.begin[0])
        if question is not None:
            self._questions.append(question)
            return
        for step in next_steps.begin:
            self._start(step)

    def _start(self, step: Step) -> None:
        """Begin an attempt of a step. If the approval has expired, begin no more steps and let running ones finish."""
        try:
            if self.stop_reason is None:
                self.attempt_pool.begin(step)
        except ExecplanError as error:
            if error.code != "approval-expired":
                raise
            self.stop_reason = StopReason(stop_reasons.TROUBLE, step.id, error=error)

    def _wait(self) -> None:
        """Wait for the outcome of an attempt or for the time of a retry."""
        self._run_guarded(self.attempt_pool.sync_results)
        delays = (
            [retry_time - monotonic() for retry_time in self._retry_times.values()] if self.stop_reason is None else []
        )
        outcome = self.attempt_pool.wait(max(min([_POLL_SECONDS, *delays]), 0.0))
        if outcome is not None:
            self._run_guarded(lambda: self._handle_outcome(outcome))

    def _run_guarded(self, action: Callable[[], None]) -> None:
        """Perform one of the loop's actions. An error stops the loop and is raised after all running steps have ended."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - as it says
            self._stop(StopReason(stop_reasons.TROUBLE, error=error))

    def _handle_outcome(self, outcome: AttemptOutcome) -> None:
        """Handle the outcome of an attempt. Raises ExecplanError if it cannot be recorded."""
        step, error = outcome.step, outcome.error
        if isinstance(error, ExecplanError) and error.exit == CONFLICT and not outcome.was_begun:
            self._stop(StopReason(stop_reasons.FAILED, step.id, "drift", _drift_reason(error.message, error)))
        elif error is not None:
            self._stop(StopReason(stop_reasons.TROUBLE, step.id, error=error))
        elif outcome.performed is not None:
            try:
                self.attempt_pool.record_result(step, outcome.attempt, outcome.performed)
            except ExecplanError as undo_error:
                if undo_error.exit != CONFLICT:
                    raise
                message = f"the changes of {step.id} can't be reverted: {undo_error.message}"
                self._stop(StopReason(stop_reasons.FAILED, step.id, "drift", _drift_reason(message, undo_error)))
                return
            if not outcome.performed.ok and not self._is_service_missing():
                self._handle_failure(step, outcome.performed)

    def _is_service_missing(self) -> bool:
        """Stop the run if a service has ended that steps still need; return whether it has."""
        services = self._context.running_services
        service = services.find_ended() if services is not None else None
        if service is None or self._context.stop.is_set() or not self._run_state.is_service_needed(service.step):
            return False
        reason = f"it ended while later steps needed it; its output: {os.path.basename(service.log.path)}"
        self._stop(failed_step_reason(service.step.id, AttemptResult(ok=False, cause="exit", reason=reason)))
        return True

    def _handle_failure(self, step: Step, performed: AttemptResult) -> None:
        """Apply the plan's failure strategy to a failed step, unless the run is being stopped."""
        if performed.cause == "interrupted" and self._context.stop.is_set():
            return
        if is_outcome_unknown(step, performed):  # its worker was lost: a resume asks what to do
            question = run_questions.unknown_outcome_question(step.id)
            self._stop(StopReason(stop_reasons.PAUSED, step.id, question=question))
            return
        is_late = monotonic() >= self.attempt_pool.deadline
        next_action = follow_failure(step, performed, self._run_state, self.schedule.order, is_late=is_late)
        if isinstance(next_action, StepTransition):
            self._write_transition(next_action)
        elif isinstance(next_action, Question):
            self._questions.append(next_action)
        elif isinstance(next_action, StopReason):
            self._stop(next_action)
        elif next_action.kind == RETRY:
            self._retry_times[step.id] = monotonic() + next_action.seconds

    def _ask(self, question: Question) -> None:
        """Ask a question and apply the answer. Without an answer, pause the run."""
        self.attempt_pool.sync_results()
        asked_at = monotonic()
        answer = self.prompter.ask(question)
        self.attempt_pool.deadline += monotonic() - asked_at
        if self._context.stop.is_set():
            self.stop_reason = StopReason(stop_reasons.SIGNAL)
        elif answer is None:
            self.stop_reason = StopReason(stop_reasons.PAUSED, question.step, question=question)
        else:
            self.apply_answer(question, answer, "terminal")

    def apply_answer(self, question: Question, answer: str, source: str) -> None:
        """Record an answer and apply it."""
        self.prompter.write_answer(question, answer, source)
        if answer == STOP:
            self._stop(stop_reasons.stopped_at_question(question))
        elif answer == SKIP:
            self._write_transition(StepTransition(SKIPPED, question.step, "skipped by the person who was asked"))
        elif answer == AGAIN:
            self._retry_times[question.step] = monotonic()


def _drift_reason(message: str, error: ExecplanError) -> str:
    """Return a message followed by the differences that an error lists and the message does not contain."""
    return "; ".join([message, *[difference for difference in error.candidates if difference not in message]])


@contextmanager
def open_loop(
    session: RunSession,
    context: RunContext,
    approved_steps: ApprovedSteps,
    executor: StepExecutor,
    jobs: int,
) -> Iterator[RunLoop]:
    """Open the loop that runs approved steps; until it is closed, signals stop it."""
    if any([step.service for step in context.document.steps]):
        context = context._replace(running_services=features.load(rare_features.SERVICES)())
    jobs = 1 if context.document.constraints.require_sequential else jobs
    with (
        add_resume_hint(context.run_paths, executor.executor.name if executor.executor is not None else ""),
        SupervisorParent() as supervisor_parent,
        AttemptPool(
            context._replace(supervisor_parent=supervisor_parent),
            session.journal_writer,
            executor,
            approved_steps.permit,
            jobs,
        ) as attempt_pool,
        SignalHandlers(context.stop, attempt_pool.wake) as signals,
    ):
        if any([runs_program(step) for step in context.document.steps]):
            supervisor_parent.prepare()  # it starts while the first step is prepared
        yield RunLoop(attempt_pool, approved_steps.schedule, Prompter(session.journal_writer, signals))


def finish_loop(session: RunSession, loop: RunLoop, stop_reason: StopReason, warnings: list[str]) -> FinishedRun:
    """Record how the loop of a session ended, with everything that follows from it. Raises ExecplanError."""
    signal, all_warnings = loop.attempt_pool.context.stop.signal, [*warnings, *loop.attempt_pool.warnings]
    return finish_session(session, loop.schedule, stop_reason, signal, all_warnings)
