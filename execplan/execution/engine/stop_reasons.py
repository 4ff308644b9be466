"""Reasons why a run begins no more steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.execution.engine.recovery.failure_recovery import policy_cause

if TYPE_CHECKING:
    from typing import Final

    from execplan.execution.engine.journal.journal_entries import AttemptResult
    from execplan.execution.engine.run_state import Question

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
    return StopReason(FAILED, question.step, "cancellation", f"stopped at the question: {question.words}")
