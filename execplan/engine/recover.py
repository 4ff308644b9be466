"""What the failure of a step leads to: tried again, skipped, stood in for, planned anew, asked about, or the end of the run."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.entries import Performed
    from execplan.engine.plain import Step

FAIL: Final = "fail"
RETRY: Final = "retry"
SKIP: Final = "skip"
ALTERNATIVE: Final = "alternative"
REPLAN: Final = "replan"
ASK: Final = "ask"
NEVER = ("drift", "interrupted")
"""Causes that no strategy is for."""
_CAUSES = {
    "exit": "failure",
    "error": "failure",
    "expectation": "validation",
    "syntax": "validation",
    "test": "validation",
    "timeout": "timeout",
    "limit": "limit",
}


class Recovery(NamedTuple):
    """What is done about a failed attempt."""

    kind: str
    seconds: float = 0.0
    """The pause before it is tried again."""


def recover(step: Step, performed: Performed, attempts: int) -> Recovery:
    """What an attempt that failed leads to, the last of so many since a person last had the step run."""
    said = step.on_failure
    if performed.cause in NEVER or not _is_for(said.triggers, performed):
        return Recovery(FAIL)
    if attempts <= said.max_retries:
        return Recovery(RETRY, said.backoff_ms / 1000 * 2 ** (attempts - 1))
    kind = said.strategy.partition(":")[0]
    return Recovery(kind if kind in (SKIP, ALTERNATIVE, REPLAN, ASK) else FAIL)


def policy_cause(cause: str) -> str:
    """What a policy calls the cause of a failure; what it has no name for is told as it is, and never rolled back."""
    return _CAUSES.get(cause, cause)


def _is_for(triggers: tuple[str, ...], performed: Performed) -> bool:
    """Whether a failure is one that the strategy was meant for; none named: any is."""
    own = {performed.cause}
    if performed.cause == "exit" and performed.exit is not None:
        own.add(f"exit:{performed.exit}")
    return not triggers or not own.isdisjoint(triggers)
