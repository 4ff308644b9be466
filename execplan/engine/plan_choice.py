"""The plan of a command about a run, where none is named: the only one with a run."""

from __future__ import annotations

from execplan.engine import last as last_runs
from execplan.engine import place as places
from execplan.errors import ExecplanError
from execplan.repo import homes, pick, shelf
from execplan.repo.execution import approvals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_ENDED = last_runs.STATES[-3:]


def plan_with_run(start: str, query: str | None, *, or_approved: bool = False) -> tuple[Home, Ref]:
    """The plan that is named; else the only one whose run has not ended; else as for other commands.

    Where those find several, it is the only one that was ever run or, if asked for, the only one with an approval.
    Raises ExecplanError.
    """
    if query is not None or pick.from_environment() is not None:
        return pick.open_plan(start, query)
    plans = [(home, ref) for home in homes.together(homes.require(start)) for ref in shelf.refs(home)]
    run = [(home, ref) for home, ref in plans if len(plans) > 1 and places.every(home, ref)]
    going = [(home, ref) for home, ref in run if _goes_on(home, ref)]
    if len(going) == 1:
        return going[0]
    try:
        return pick.open_plan(start, None)
    except ExecplanError as error:
        if error.code != "ambiguous-plan":
            raise
        known = going or run
        if not known and or_approved:
            known = [(home, ref) for home, ref in plans if approvals.every(home, ref)]
        if len(known) == 1:
            return known[0]
        raise


def _goes_on(home: Home, ref: Ref) -> bool:
    """Whether the last run of a plan has not ended."""
    try:
        found = last_runs.last(home, ref)
    except ExecplanError:
        return False
    return found is not None and found.state not in _ENDED
