"""What follows a failed step, in runs here and in those of an agent, and reasons why a run begins no more steps."""

from __future__ import annotations

from typing import Final

from execplan.core.named_tuple import NamedTuple
from execplan.execution import states
from execplan.execution.engine.journal.journal_entries import SKIPPED, AttemptResult
from execplan.execution.engine.recovery.failure_recovery import (
    ALTERNATIVE,
    ASK,
    RETRY,
    SKIP,
    Recovery,
    choose_recovery,
    policy_cause,
)
from execplan.execution.engine.run_questions import failure_question
from execplan.execution.engine.run_state import Question, RunState
from execplan.execution.engine.schedule import StepTransition
from execplan.execution.engine.step_order import StepOrder
from execplan.execution.execution_plan import Step
from execplan.execution.policy import Policy

DONE: Final = "done"
"""Nothing is left to do."""
FAILED: Final = "failed"
PAUSED: Final = "paused"
REPLAN: Final = "replan"
COVERED: Final = "covered"
"""A revision was made that an approval covers, and the run continues with it."""
SIGNAL: Final = "signal"
TROUBLE: Final = "trouble"
"""Something other than a step failed, such as the disk; the run itself has no known problem."""

CANCELLATION: Final = "cancellation"
"""Cause of the end of a run that a person stops at a question."""


class StopReason(NamedTuple):
    """Why a run stopped, with details."""

    kind: str
    step: str = ""
    cause: str = ""
    """Cause of a failure: one of `ROLLBACK_CAUSES` in policy.py, or `drift`."""
    reason: str = ""
    question: Question | None = None
    error: BaseException | None = None


def failed_step_reason(step: str, performed: AttemptResult) -> StopReason:
    """Return the stop reason for a step that has failed for good, and the run with it."""
    return StopReason(FAILED, step, policy_cause(performed.cause), f"step {step} failed: {performed.reason}")


def stopped_at_question(question: Question) -> StopReason:
    """Return the stop reason for a person who answers a question by stopping the run."""
    return StopReason(FAILED, question.step, CANCELLATION, f"stopped at the question: {question.words}")


def is_rolled_back_after(cause: str, policy: Policy, run_state: RunState) -> bool:
    """Return whether the policy has a run that ends with a cause rolled back.

    An agent's run is never rolled back automatically: the agent may be in the middle of something.
    """
    return cause in policy.rollback_on and not run_state.is_agent_run


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
    return stop_reason._replace(kind=REPLAN) if recovery.kind == REPLAN else stop_reason


def find_unrecovered_failure(run_state: RunState, order: StepOrder, *, is_stuck: bool) -> StopReason | None:
    """Return why the run fails if the alternative of a failed step was skipped or, in a stuck run, can never run."""
    alternatives = order.pending_alternatives(run_state)
    for name, performed in run_state.failures():
        if name in alternatives and (is_stuck or run_state.status_of[alternatives[name]] == states.SKIPPED):
            return failed_step_reason(name, performed)
    return None
