"""Why a run begins nothing more."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.run_state import Question

DONE: Final = "done"
"""Nothing is left to be done."""
FAILED: Final = "failed"
PAUSED: Final = "paused"
REPLAN: Final = "replan"
COVERED: Final = "covered"
"""A revision was made that an approval covers: the run goes on with it."""
SIGNAL: Final = "signal"
TROUBLE: Final = "trouble"
"""Something else than a step has failed, such as the disk: nothing is known to be wrong with the run."""


class StopReason(NamedTuple):
    """One of these, and what there is to say of it."""

    kind: str
    step: str = ""
    cause: str = ""
    """Of a failure: one of CAUSES of policy.py, or drift."""
    reason: str = ""
    question: Question | None = None
    error: BaseException | None = None
