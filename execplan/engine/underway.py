"""The run of a plan that may go on: what it has done is not judged and not approved a second time."""

from __future__ import annotations

from execplan.engine import revisions, runs
from execplan.execution import states
from execplan.execution.evaluate import ActiveRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def underway(home: Home, ref: Ref) -> ActiveRun | None:
    """The last run of a plan with what it has done, None where it can't be resumed; raises ExecplanError."""
    place, entries = runs.last_begun(home, ref)
    if place is None:
        return None
    course = runs.brief(place, entries)
    if course.status not in (states.IN_PROGRESS, states.REPLANNING, states.FAILED) or course.rolling is not None:
        return None
    done = {step for step, status in course.status_of.items() if status in states.SUCCESS_STATES} - course.undone
    return ActiveRun(place.id, revisions.wanted(entries)[1], frozenset(done))
