"""Recovery of attempts that a killed or interrupted run left unfinished: inspects them, then records the outcome."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.text.message_parts import format_excess
from execplan.execution import states
from execplan.execution.binding import describe_difference, sanitize_state
from execplan.execution.engine import run_questions, stop_reasons
from execplan.execution.engine.attempt_pool import AttemptPool, is_one_time_command, is_outcome_unknown
from execplan.execution.engine.journal.journal_entries import (
    ASK,
    GO,
    RETAKEN,
    SKIP,
    SKIPPED,
    STOP,
    AttemptResult,
    StateChange,
)
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.run_state import Attempt, Question, RunState
from execplan.execution.engine.schedule import Schedule, can_run_in_parallel
from execplan.execution.engine.stop_reasons import StopReason
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.execution_plan import Step


class InterruptedAttempt(NamedTuple):
    """An attempt that did not finish, with the action that it requires."""

    step: Step
    number: int
    performed: AttemptResult | None
    """The result to record. If the outcome is unknown, the result in case a person confirms the work as done."""
    changes: tuple[StateChange, ...]
    """Changes to undo if the attempt did not finish."""
    folders: tuple[str, ...]
    is_unknown: bool = False
    """Whether a person has to decide if the attempt did its work."""


class InterruptionRecovery:
    """Inspects interrupted attempts before a run is resumed, then records the outcome."""

    def __init__(self, attempt_pool: AttemptPool, schedule: Schedule, prompter: Prompter) -> None:
        self.stay_failed: list[str] = []
        """IDs of the steps that failed before the interruption and whose consequences are not recorded yet."""
        self._attempt_pool, self._journal_writer = attempt_pool, attempt_pool.journal_writer
        self._schedule, self._prompter = schedule, prompter
        self._interrupted: list[InterruptedAttempt] = []

    @staticmethod
    def unknown_outcomes(run_state: RunState) -> list[tuple[Step, int, AttemptResult]]:
        """Return the interrupted commands that may run only once and may already have done their work.

        Each one is a step with the number and the result of its last attempt.
        """
        unknown = []
        for step in run_state.document.steps:
            attempt = run_state.last_attempt(step.id)
            if attempt is None or attempt.retaken or run_state.status_of[step.id] in states.SUCCESS_STATES:
                continue
            if attempt.performed is not None and is_outcome_unknown(step, attempt.performed):
                unknown.append((step, attempt.number, attempt.performed))
        return unknown

    def inspect(self) -> None:
        """Find interrupted attempts, and check that the results of completed steps are unchanged.

        Writes nothing. Raises ExecplanError.
        """
        run_state, step_of = self._journal_writer.run_state, self._schedule.steps_by_id
        for name, attempt in run_state.open_attempts():
            self._interrupted.append(self._recover_attempt(step_of[name], attempt))
        for step, number, performed in self.unknown_outcomes(run_state):
            assumed_result = performed._replace(
                ok=True, cause="", reason="it was interrupted, and a person answered that it was done"
            )
            self._interrupted.append(
                InterruptedAttempt(step, number, assumed_result, performed.changes, performed.folders, is_unknown=True)
            )
        unknown_ids = {interrupted.step.id for interrupted in self._interrupted}
        for name in [step.id for step in run_state.document.steps if step.id not in unknown_ids]:
            self._inspect_failed(step_of[name])
        excluded_paths = {change.path for interrupted in self._interrupted for change in interrupted.changes}
        ensure_not_drifted(run_state, self._attempt_pool.context.workspace, excluded_paths)

    def next_question(self) -> Question | None:
        """Return the first question that must be answered before the run can be resumed."""
        return next(
            (
                run_questions.unknown_outcome_question(interrupted.step.id)
                for interrupted in self._interrupted
                if interrupted.is_unknown
            ),
            None,
        )

    def resolve(self, answer: str | None, source: str) -> StopReason | None:
        """Record the outcome of all interrupted attempts; return why the run stops, if at all. Raises ExecplanError."""
        for interrupted in self._interrupted:
            if not interrupted.is_unknown:
                self._write(interrupted)
        for interrupted in self._interrupted:
            if interrupted.is_unknown:
                stop_reason = self._ask(interrupted, answer, source)
                answer = None
                if stop_reason is not None:
                    return stop_reason
        for step in self._journal_writer.run_state.document.steps:
            if self._journal_writer.run_state.status_of[step.id] in (states.COMPLETED, states.RECOVERED):
                self._attempt_pool.tick_task(step)
        return None

    def _recover_attempt(self, step: Step, attempt: Attempt) -> InterruptedAttempt:
        """Determine the outcome of an attempt whose end was not recorded."""
        recovered = self._attempt_pool.executor.recover_attempt(self._attempt_pool.context, step, attempt)
        performed = recovered.performed
        changes, folders = self._own_changes(step, recovered.changes, recovered.folders)
        if performed is not None:
            own_changes, own_folders = self._own_changes(step, performed.changes, performed.folders)
            performed = performed._replace(changes=own_changes, folders=own_folders)
        if performed is not None and performed.cause == "interrupted":
            if is_one_time_command(step):
                assumed_result = performed._replace(
                    ok=True, cause="", reason="it was interrupted, and a person answered that it was done"
                )
                return InterruptedAttempt(
                    step, attempt.number, assumed_result, performed.changes, performed.folders, is_unknown=True
                )
            return InterruptedAttempt(step, attempt.number, None, performed.changes, performed.folders)
        return InterruptedAttempt(
            step, attempt.number, performed, changes, folders, is_unknown=recovered.kind == "unknown"
        )

    def _own_changes(
        self, step: Step, changes: tuple[StateChange, ...], folders: tuple[str, ...]
    ) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
        """Return the changes and created directories of a step; only the declared ones if it may have run in parallel."""
        from execplan.execution.engine.steps.tree_snapshots import own_changes

        ran_alone = self._journal_writer.run_state.begin_fields["jobs"] == 1 or not can_run_in_parallel(step)
        return (changes, folders) if ran_alone else own_changes(step, changes, folders)

    def _inspect_failed(self, step: Step) -> None:
        """Queue a failed step if its changes are not undone yet, or if the consequences are not recorded yet."""
        run_state = self._journal_writer.run_state
        attempt = run_state.last_attempt(step.id)
        if attempt is None or attempt.performed is None or run_state.status_of[step.id] != states.FAILED:
            return
        if attempt.service_end is not None:  # it was ready, and ended later: it is only started again
            return
        performed = attempt.performed
        if step.rollback.enabled and not attempt.retaken:
            self._interrupted.append(
                InterruptedAttempt(step, attempt.number, None, performed.changes, performed.folders)
            )
        is_asked = run_state.question is not None and (run_state.question.why, run_state.question.step) == (
            ASK,
            step.id,
        )
        if run_state.end_entry is None and performed.cause != "interrupted" and not is_asked:
            self.stay_failed.append(step.id)

    def _write(self, interrupted: InterruptedAttempt) -> None:
        """Record how an attempt ended, or undo its changes so that it can run again."""
        if interrupted.performed is not None:
            self._attempt_pool.record_result(interrupted.step, interrupted.number, interrupted.performed)
        elif interrupted.changes or interrupted.folders:
            self._attempt_pool.undo_changes(
                interrupted.step, interrupted.number, interrupted.changes, interrupted.folders
            )
        else:
            self._journal_writer.write(RETAKEN, step=interrupted.step.id, attempt=interrupted.number, changes=[])

    def _ask(self, interrupted: InterruptedAttempt, answer: str | None, source: str) -> StopReason | None:
        """Ask about an attempt whose outcome is unknown, and apply the answer."""
        question = run_questions.unknown_outcome_question(interrupted.step.id)
        reply, source = (answer, source) if answer is not None else (self._prompter.ask(question), "terminal")
        if self._attempt_pool.context.stop.is_set():
            return StopReason(stop_reasons.SIGNAL)
        if reply is None:
            return StopReason(stop_reasons.PAUSED, interrupted.step.id, question=question)
        self._prompter.write_answer(question, reply, source)
        if reply == STOP:
            return stop_reasons.stopped_at_question(question)
        self._write(interrupted if reply == GO else interrupted._replace(performed=None))  # again: it becomes pending
        if reply == SKIP:
            self._journal_writer.write(SKIPPED, step=interrupted.step.id, reason="skipped by the person who was asked")
        return None


def ensure_not_drifted(run_state: RunState, workspace: WorkspaceFiles, excluded_paths: Collection[str]) -> None:
    """Raise ExecplanError if files have changed since the completed steps left them, except `excluded_paths`."""
    changed_paths = [
        change.path for name, change in run_state.changes() if run_state.status_of.get(name) in states.SUCCESS_STATES
    ]
    differences = []
    for path in dict.fromkeys([changed_path for changed_path in changed_paths if changed_path not in excluded_paths]):
        reason = describe_difference(
            sanitize_state(run_state.expected_states[path]), sanitize_state(workspace.state(path))
        )
        differences += [f"{path}: {reason}"] if reason else []
    if differences:
        suffix = format_excess(len(differences), 1, ", ")
        raise ExecplanError(
            "drifted",
            f"results of the run have changed since then: {differences[0]}{suffix}",
            hint="restore what the run left; to correct it, add a step to the plan, then: execplan replan --reason 'What was wrong'",
            candidates=differences,
        )
