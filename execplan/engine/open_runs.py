"""Runs that are not finished: at work, paused, interrupted, left to an agent, or rolled back in part."""

from __future__ import annotations

from execplan.engine import place as places
from execplan.engine.last import BY_AGENT, CUT_SHORT, ROLLING_BACK, RUNNING, WAITING, how
from execplan.errors import NO, ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.last import Last
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

OPEN: Final = (RUNNING, BY_AGENT, WAITING, CUT_SHORT, ROLLING_BACK)
"""The states of a run that is not finished: all but completed, failed and rolled back."""
WORDS: Final = {
    RUNNING: "is running",
    BY_AGENT: "is being carried out by an agent",
    WAITING: "waits for an answer",
    CUT_SHORT: "was interrupted",
    ROLLING_BACK: "was rolled back only in part: the rollback was interrupted",
}
"""What a person reads about such a run."""


def number(run: str) -> int:
    """Which run of its plan a run is, from 1, by its id."""
    return int(run.partition("-")[0])


def open_runs(home: Home, ref: Ref) -> list[Last]:
    """Every unfinished run of a plan, the last one first; raises ExecplanError.

    Two branches that were merged may have brought more than one.
    """
    found = [how(home, place) for place in places.every(home, ref)]
    return [each for each in found if each.state in OPEN]


def ways_on(run: Last, name: str) -> tuple[str, ...]:
    """The commands that finish a run; the plan as it can be typed."""
    resume, rollback = (f"execplan {command} {run.id} -p {name}" for command in ("resume", "rollback"))
    if run.state == ROLLING_BACK:
        return (rollback,)
    return (f"execplan handoff {name}" if run.state == BY_AGENT else resume, rollback)


def require_none(home: Home, ref: Ref, action: str) -> None:
    """Stop what would put an unfinished run where nobody can resume it or roll it back; raises ExecplanError.

    `action` is what the command would do, such as "archived".
    """
    from execplan.repo.moving.move import stop_running

    stop_running(home, ref)
    found = open_runs(home, ref)
    if not found:
        return
    lines = [f"run {each.id} {WORDS[each.state]}" for each in found]
    raise ExecplanError(
        "open-run",
        f"{ref.id} can't be {action}: " + ("it has an unfinished run" if len(found) == 1 else "it has unfinished runs"),
        exit=NO,
        hint=f"resume or roll back first: {'; '.join(ways_on(found[0], ref.typed))}",
        candidates=lines,
        data={"reasons": lines},
    )


def unfinished(home: Home, ref: Ref) -> tuple[str, ...]:
    """A warning for each unfinished run of a plan that is archived all the same; raises ExecplanError."""
    way = f"to finish it, restore the plan first: execplan restore {ref.typed}"
    return tuple([f"run {each.id} {WORDS[each.state]}; {way}" for each in open_runs(home, ref)])
