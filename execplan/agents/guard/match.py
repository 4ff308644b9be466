"""A call is matched to the steps that it may be of."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.call import Call
    from execplan.agents.guard.planned import Around, Planned


class Match(NamedTuple):
    """A step that a call is of."""

    step: str
    """Its id."""
    paths: tuple[str, ...]
    """What the call writes or deletes, from the root: of a step that writes files what was compared to the byte with what is
    planned, whatever is there now; of a command what it declares."""


class Matched(NamedTuple):
    """What was found."""

    matches: tuple[Match, ...] = ()
    """In the order of their numbers."""
    refused: str = ""
    """Why the call is denied whatever it matches, or nothing."""
    nearest: str = ""
    """Where nothing matches: the id of the step that the call is most like, or nothing."""
    why: str = ""
    """Why it is not that one."""


def match(call: Call, planned: Sequence[Planned], around: Around) -> Matched:
    """The steps that a call may be of."""
    return Matched(why="nothing is matched yet")
