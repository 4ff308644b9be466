"""State transitions of an agent's run: skipped and recovered steps, questions, and the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import run_questions, step_order, stop_reasons
from execplan.engine.journal.journal_entries import COVERED, SKIPPED
from execplan.engine.recovery.failure_recovery import ALTERNATIVE, ASK, REPLAN, RETRY, SKIP, policy_cause
from execplan.engine.stop_reasons import StopReason
from execplan.execution import states

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.engine.journal.journal_writer import JournalWriter
    from execplan.engine.run_state import RunState
    from execplan.engine.schedule import Schedule
    from execplan.execution.execution_plan import Step

_OPEN = (states.PENDING, states.RUNNING, states.AWAITING)


def apply_transitions(
    journal_writer: JournalWriter, schedule: Schedule, tick: Callable[[Step], None]
) -> StopReason | None:
    """Record all transitions that follow from the journal. Raises ExecplanError.

    Returns the stop reason if the run ends or waits for a person.
    """
    while True:
        stop_reason = _apply_failures(journal_writer, schedule, tick)
        if stop_reason is not None:
            return stop_reason
        run_state = journal_writer.run_state
        waiting, busy = schedule.order.pending_alternatives(run_state), _busy_steps(run_state, schedule)
        next_moves = schedule.find_next_steps(run_state, waiting, busy, 1)
        for move in next_moves.transitions:
            _write_move(journal_writer, schedule, tick, move.kind, move.step, move.detail)
        if next_moves.transitions:
            continue
        is_stuck = not (next_moves.begin or busy or _is_waiting(run_state, schedule))
        for name, alternative in waiting.items():
            if is_stuck or run_state.status_of[alternative] == states.SKIPPED:
                return _failure_stop_reason(run_state, name)
        return StopReason(stop_reasons.DONE) if is_stuck else None


def next_steps(run_state: RunState, schedule: Schedule) -> list[Step]:
    """Return the steps to run now, with or without a question: first those in progress, then the rest in order.

    Returns none while the run waits for a person.
    """
    if run_state.question is not None and run_state.question.why != COVERED:
        return []
    order, status_of = schedule.order, run_state.status_of
    ready_steps = []
    for step in schedule.steps:
        status = step_order.effective_status(step, run_state)
        is_ready = status in _OPEN and all(
            [status_of.get(name) in states.SUCCESS_STATES for name in order.open_dependencies(step, run_state)]
        )
        if status == states.RUNNING or (is_ready and not order.skip_reason(step, run_state, schedule.path_exists)):
            ready_steps.append(step)
    return sorted(ready_steps, key=lambda step: run_state.status_of[step.id] != states.RUNNING)


def _apply_failures(
    journal_writer: JournalWriter, schedule: Schedule, tick: Callable[[Step], None]
) -> StopReason | None:
    """Apply the consequences of failed steps; return the stop reason if the run ends or needs an answer."""
    run_state = journal_writer.run_state
    for name in run_state.steps_with_status(states.FAILED):
        step = schedule.steps_by_id[name]
        kind = step_order.recovery_kind(step, run_state)
        if step_order.effective_status(step, run_state) == states.PENDING or kind in (RETRY, REPLAN):
            continue
        if kind == SKIP:
            why = f"it failed, and is skipped then: {run_state.reasons.get(name, '')}"
            _write_move(journal_writer, schedule, tick, SKIPPED, name, why)
        elif kind == ASK:
            question = run_questions.failure_question(step, run_state.reasons.get(name, ""))
            return None if run_state.question == question else StopReason(stop_reasons.PAUSED, name, question=question)
        elif kind != ALTERNATIVE or not schedule.alternative_step(step):
            return _failure_stop_reason(run_state, name)
    return None


def _failure_stop_reason(run_state: RunState, name: str) -> StopReason:
    """Return the stop reason for a step that has finally failed, and the run with it."""
    performed = run_state.attempts[name][-1].performed if run_state.attempts.get(name) else None
    cause = policy_cause(performed.cause) if performed is not None else ""
    return StopReason(stop_reasons.FAILED, name, cause, f"{name} failed: {run_state.reasons.get(name, '')}")


def _busy_steps(run_state: RunState, schedule: Schedule) -> list[str]:
    """Return the steps that are in progress or will be retried."""
    failed = [
        name
        for name in run_state.steps_with_status(states.FAILED)
        if step_order.effective_status(schedule.steps_by_id[name], run_state) != states.FAILED
    ]
    return [*run_state.steps_with_status(states.RUNNING), *failed]


def _is_waiting(run_state: RunState, schedule: Schedule) -> bool:
    """Return whether the run waits for a person or a new revision, not for a step."""
    is_awaiting = bool(run_state.steps_with_status(states.AWAITING)) or run_state.question is not None
    return is_awaiting or any(
        [
            step_order.recovery_kind(schedule.steps_by_id[name], run_state) == REPLAN
            for name in run_state.steps_with_status(states.FAILED)
        ]
    )


def _write_move(
    journal_writer: JournalWriter, schedule: Schedule, tick: Callable[[Step], None], kind: str, step: str, reason: str
) -> None:
    journal_writer.write(kind, step=step, **{"by" if kind == "recovered" else "reason": reason})
    tick(schedule.steps_by_id[step])
