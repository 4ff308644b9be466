"""Reasons why a run begins no more steps."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.run_state import Question

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
