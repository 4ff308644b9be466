"""What follows a failed step: the one decision for runs here and for runs of an agent, from the state of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution import states
from execplan.execution.engine import stop_reasons
from execplan.execution.engine.journal.journal_entries import SKIPPED
from execplan.execution.engine.recovery.failure_recovery import ALTERNATIVE, ASK, REPLAN, RETRY, SKIP, choose_recovery
from execplan.execution.engine.run_questions import failure_question
from execplan.execution.engine.schedule import StepTransition
from execplan.execution.engine.stop_reasons import failed_step_reason

if TYPE_CHECKING:
    from execplan.execution.engine.journal.journal_entries import AttemptResult
    from execplan.execution.engine.recovery.failure_recovery import Recovery
    from execplan.execution.engine.run_state import Question, RunState
    from execplan.execution.engine.step_order import StepOrder
    from execplan.execution.engine.stop_reasons import StopReason
    from execplan.execution.execution_plan import Step


def follow_failure(
    step: Step, performed: AttemptResult, run_state: RunState, order: StepOrder, *, is_late: bool = False
) -> Recovery | StepTransition | Question | StopReason:
    """Return what follows a failed attempt.

    It is a retry or an alternative; the skip to record; the question that a person has to answer; or why the run stops.
    `is_late`: whether the run has exceeded its time limit, so that nothing begins any more.
    """
    recovery = choose_recovery(step, performed, run_state.count_tries(step.id))
    if recovery.kind == SKIP:
        return StepTransition(SKIPPED, step.id, f"skipped after it failed: {performed.reason}")
    if is_late:
        return failed_step_reason(step.id, performed._replace(cause="timeout"))
    if recovery.kind == RETRY or (recovery.kind == ALTERNATIVE and order.alternative_step(step)):
        return recovery
    if recovery.kind == ASK:
        return failure_question(step, performed.reason)
    stop_reason = failed_step_reason(step.id, performed)
    return stop_reason._replace(kind=stop_reasons.REPLAN) if recovery.kind == REPLAN else stop_reason


def find_unrecovered_failure(run_state: RunState, order: StepOrder, *, is_stuck: bool) -> StopReason | None:
    """Return why the run fails if the alternative of a failed step was skipped or, in a stuck run, can never run."""
    alternatives = order.pending_alternatives(run_state)
    for name, performed in run_state.failures():
        if name in alternatives and (is_stuck or run_state.status_of[alternatives[name]] == states.SKIPPED):
            return failed_step_reason(name, performed)
    return None
