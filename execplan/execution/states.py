"""States of runs and steps, and the allowed transitions between them."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from execplan.execution.world import State

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
NOT_SELECTED: Final = "not selected"  # the reason why a step is skipped

RUN_TRANSITIONS: dict[str, tuple[str, ...]] = {
    PENDING: (IN_PROGRESS, FAILED),
    IN_PROGRESS: (COMPLETED, FAILED, REPLANNING),
    REPLANNING: (IN_PROGRESS, FAILED),
    FAILED: (IN_PROGRESS, REPLANNING, ROLLED_BACK),
    COMPLETED: (ROLLED_BACK,),
    ROLLED_BACK: (),
}
"""Transitions of a run. A failed run continues when it is resumed; a rolled back run never continues."""
STEP_TRANSITIONS: dict[str, tuple[str, ...]] = {
    PENDING: (RUNNING, AWAITING, SKIPPED, BLOCKED),
    AWAITING: (PENDING, RUNNING, SKIPPED, FAILED),
    RUNNING: (COMPLETED, FAILED, PENDING),
    FAILED: (RUNNING, PENDING, SKIPPED, RECOVERED),
    BLOCKED: (PENDING,),
    SKIPPED: (),
    COMPLETED: (PENDING,),
    RECOVERED: (PENDING,),
}
"""Transitions of a step.

A running step that was interrupted is pending again. A failed step runs again on a retry, is skipped or recovered as
its `on_failure` says, and is pending in a new revision. A blocked step waits for a step that failed. A successful step
is pending again only after a rollback, and a step that awaits an answer when it gets one.
"""
ENDED_RUN_STATES = (COMPLETED, FAILED, ROLLED_BACK)
"""States of a run that has ended."""
STATES_WITH_REASON = (FAILED, SKIPPED, BLOCKED, RECOVERED)
"""States of a step that have a reason."""
SUCCESS_STATES = (COMPLETED, SKIPPED, RECOVERED)
"""States of a step with which a run may be completed."""


class ActiveRun(NamedTuple):
    """A run in progress, for which a document is evaluated again."""

    run: str
    """ID of the run."""
    document: str
    """SHA-256 of the document's bytes in its current revision."""
    finished_steps: frozenset[str]
    """IDs of the steps that the run will not run again."""
    files_before: Mapping[str, tuple[State, bytes]]
    """Paths that an agent's unfinished steps may have changed, as they were before that."""


def advance(state: str, new_state: str, transitions: Mapping[str, tuple[str, ...]] = STEP_TRANSITIONS) -> str:
    """Return the new state. Raises ExecplanError if the transition is not allowed or a state is unknown."""
    for name in (state, new_state):
        if name not in transitions:
            problem = f"unknown state {name!r}"
            raise ExecplanError("bad-transition", problem, hint="valid states: " + ", ".join(transitions))
    if new_state not in transitions[state]:
        successors = ", ".join(transitions[state]) or "nothing"
        message = f"the state {state} can't change to {new_state}"
        raise ExecplanError("bad-transition", message, hint=f"valid states after {state}: {successors}")
    return new_state
