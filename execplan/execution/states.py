"""The states that a run and a step go through, and which may follow which."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

PENDING: Final = "pending"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
IN_PROGRESS: Final = "in_progress"
REPLANNING: Final = "replanning"
ROLLED_BACK: Final = "rolled_back"
RUNNING: Final = "running"
SKIPPED: Final = "skipped"
BLOCKED: Final = "blocked"
AWAITING: Final = "awaiting_approval"
RECOVERED: Final = "recovered"

RUN: dict[str, tuple[str, ...]] = {
    PENDING: (IN_PROGRESS, FAILED),
    IN_PROGRESS: (COMPLETED, FAILED, REPLANNING),
    REPLANNING: (IN_PROGRESS, FAILED),
    FAILED: (IN_PROGRESS, REPLANNING, ROLLED_BACK),
    COMPLETED: (ROLLED_BACK,),
    ROLLED_BACK: (),
}
"""Of a run. A failed one goes on when it is resumed; what was rolled back never goes on."""
STEP: dict[str, tuple[str, ...]] = {
    PENDING: (RUNNING, AWAITING, SKIPPED, BLOCKED),
    AWAITING: (PENDING, RUNNING, SKIPPED, FAILED),
    RUNNING: (COMPLETED, FAILED, PENDING),
    FAILED: (RUNNING, PENDING, SKIPPED, RECOVERED),
    BLOCKED: (PENDING,),
    SKIPPED: (),
    COMPLETED: (PENDING,),
    RECOVERED: (PENDING,),
}
"""Of a step. A running one that was interrupted is pending again; a failed one runs again when it is retried, is skipped or
recovered by what its on_failure names, and is pending in a new revision; a blocked one waits for a step that failed. What is
done is pending again only when it was rolled back, and one that awaits an answer when it got it."""
ENDED = (COMPLETED, FAILED, ROLLED_BACK)
"""States of a run that has an end."""
WITH_REASON = (FAILED, SKIPPED, BLOCKED, RECOVERED)
"""States of a step that have a reason."""
GOOD = (COMPLETED, SKIPPED, RECOVERED)
"""States of a step with which a run may be completed."""


def advance(state: str, to: str, table: Mapping[str, tuple[str, ...]] = STEP) -> str:
    """The state that follows, when it may; raises ExecplanError when it may not, or is none of the table."""
    for each in (state, to):
        if each not in table:
            what = f"there is no state {each!r}"
            raise ExecplanError("bad-transition", what, exit=INPUT, hint="the states: " + ", ".join(table))
    if to not in table[state]:
        follow = ", ".join(table[state]) or "nothing"
        message = f"what is {state} can't become {to}"
        raise ExecplanError("bad-transition", message, exit=INPUT, hint=f"what may follow {state}: {follow}")
    return to
