"""State transitions of an agent's run: skipped and recovered steps, questions, and the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution import states
from execplan.execution.engine import step_order, stop_reasons
from execplan.execution.engine.journal.journal_entries import COVERED
from execplan.execution.engine.run_state import Question
from execplan.execution.engine.schedule import StepTransition
from execplan.execution.engine.stop_reasons import StopReason, find_unrecovered_failure, follow_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.run_state import RunState
    from execplan.execution.engine.schedule import Schedule
    from execplan.execution.execution_plan import Step

_OPEN = (states.PENDING, states.RUNNING, states.AWAITING)


def apply_transitions(
    journal_writer: JournalWriter, schedule: Schedule, tick: Callable[[Step], None]
) -> StopReason | None:
    """Record all transitions that follow from the journal. Raises ExecplanError.

    Returns the stop reason if the run ends or waits for a person. A step that failed for good blocks the steps that depend
    on it; the run fails when no other step is left.
    """
    while True:
        stop_reason = _apply_failures(journal_writer, schedule, tick)
        if stop_reason is not None and (stop_reason.question is not None or schedule.order.is_sequential):
            return stop_reason
        run_state = journal_writer.run_state
        busy = _busy_steps(run_state, schedule)
        next_actions = schedule.find_next_steps(run_state, schedule.order.pending_alternatives(run_state), busy, 1)
        for transition in next_actions.transitions:
            journal_writer.write_transition(transition)
            tick(schedule.steps_by_id[transition.step])
        if next_actions.transitions:
            continue
        is_stuck = not (next_actions.begin or busy or _is_waiting(run_state))
        unrecovered = find_unrecovered_failure(run_state, schedule.order, is_stuck=is_stuck)
        if unrecovered is not None or not is_stuck:
            return unrecovered
        return stop_reason or StopReason(stop_reasons.DONE)


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
    """Apply the consequences of failed steps; return the stop reason if one failed for good or needs an answer."""
    run_state = journal_writer.run_state
    failure: StopReason | None = None
    for name, performed in run_state.failures():
        step = schedule.steps_by_id[name]
        if step_order.effective_status(step, run_state) == states.PENDING:
            continue
        next_action = follow_failure(step, performed, run_state, schedule.order)
        if isinstance(next_action, StepTransition):
            journal_writer.write_transition(next_action)
            tick(step)
        elif isinstance(next_action, Question):
            is_asked = run_state.question == next_action
            return None if is_asked else StopReason(stop_reasons.PAUSED, name, question=next_action)
        elif isinstance(next_action, StopReason):
            failure = failure or next_action._replace(
                kind=stop_reasons.FAILED
            )  # it is resumed or replanned, as it may be
            for transition in () if schedule.order.is_sequential else schedule.blocked_steps(run_state, name):
                journal_writer.write_transition(transition)
    return failure


def _busy_steps(run_state: RunState, schedule: Schedule) -> list[str]:
    """Return the steps that are in progress or will be retried."""
    failed = [
        name
        for name in run_state.steps_with_status(states.FAILED)
        if step_order.effective_status(schedule.steps_by_id[name], run_state) != states.FAILED
    ]
    return [*run_state.steps_with_status(states.RUNNING), *failed]


def _is_waiting(run_state: RunState) -> bool:
    """Return whether the run waits for a person, not for a step."""
    return bool(run_state.steps_with_status(states.AWAITING)) or run_state.question is not None
