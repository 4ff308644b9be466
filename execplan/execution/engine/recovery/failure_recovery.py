"""Actions after a failed step: retry it, skip it, run its alternative, replan, ask, or end the run."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.execution.engine.journal.journal_entries import AttemptResult
    from execplan.execution.engine.ordering_fields import Step

FAIL: Final = "fail"
RETRY: Final = "retry"
SKIP: Final = "skip"
ALTERNATIVE: Final = "alternative"
REPLAN: Final = "replan"
ASK: Final = "ask"
UNRECOVERABLE_CAUSES = ("drift", "interrupted")
"""Causes of failure that no strategy applies to."""
EXPECTATION, SYNTAX, TEST = "expectation", "syntax", "test"
"""Causes of failure that the checks after a step find."""
_CAUSES = {
    **dict.fromkeys(("exit", "error"), "failure"),
    **dict.fromkeys((EXPECTATION, SYNTAX, TEST), "validation"),
    "timeout": "timeout",
    "limit": "limit",
}


class Recovery(NamedTuple):
    """The action to take after a failed attempt."""

    kind: str
    seconds: float = 0.0
    """Seconds to wait before a retry."""


def choose_recovery(step: Step, performed: AttemptResult, attempts: int) -> Recovery:
    """Choose the action after a failed attempt.

    `attempts` counts the tries, including this one, since a person last had the step run.
    """
    on_failure = step.on_failure
    if performed.cause in UNRECOVERABLE_CAUSES or not _matches_triggers(on_failure.triggers, performed):
        return Recovery(FAIL)
    if attempts <= on_failure.max_retries:
        return Recovery(RETRY, on_failure.backoff_ms / 1000 * 2 ** (attempts - 1))
    kind = on_failure.strategy.partition(":")[0]
    return Recovery(kind if kind in (SKIP, ALTERNATIVE, REPLAN, ASK) else FAIL)


def policy_cause(cause: str) -> str:
    """Return the policy's name for a cause of failure. A cause without one is unchanged, and never rolled back."""
    return _CAUSES.get(cause, cause)


def _matches_triggers(triggers: tuple[str, ...], performed: AttemptResult) -> bool:
    """Return whether a failure is one that the strategy applies to. Without triggers, it applies to any."""
    causes = {performed.cause}
    if performed.cause == "exit" and performed.exit is not None:
        causes.add(f"exit:{performed.exit}")
    return not triggers or not causes.isdisjoint(triggers)
