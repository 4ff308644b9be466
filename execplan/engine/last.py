"""How the last run of a plan stands, read from the end of its journal: `status` asks of every open plan."""

from __future__ import annotations

import json
import os

from execplan.engine import entries as kinds
from execplan.engine import place as places
from execplan.engine.alone import at_work
from execplan.execution import states
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from execplan.engine.place import Place
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

RUNNING: Final = "running"
WAITING: Final = "waiting"
BY_AGENT: Final = "by_agent"
CUT_SHORT: Final = "cut_short"
ROLLING_BACK: Final = "rolling_back"
STATES = (RUNNING, BY_AGENT, WAITING, CUT_SHORT, ROLLING_BACK, states.COMPLETED, states.FAILED, states.ROLLED_BACK)
"""A process is at work on it; an agent carries it out, call by call; it waits for an answer; it was interrupted or killed, and is to be resumed or rolled back; its
rollback was cut short, and is to be done once more; it ended."""
_TAIL = 1 << 16
_ROLLBACK = (kinds.ROLLBACK, kinds.RESTORED)
_BESIDE = (kinds.REOPENED,)
"""What is written while a run goes back as well as while it goes on."""


class Last(NamedTuple):
    """The last run of a plan."""

    id: str
    state: str
    """One of STATES."""
    why: str = ""
    """What it waits for, one of WHYS."""

    def told(self) -> dict[str, str | None]:
        """As a document shows it."""
        return {**self._asdict(), "why": self.why or None}


def last(home: Home, ref: Ref) -> Last | None:
    """How the last run of a plan stands, None where it was never run; raises ExecplanError."""
    for place in places.every(home, ref):
        found = how(home, place)
        if found.state != states.PENDING:
            return found
    return None


def how(home: Home, place: Place) -> Last:
    """How a run stands, pending where it was killed before it began; raises ExecplanError."""
    state, why = _state(place.journal)
    if state in (RUNNING, ROLLING_BACK):
        works = place.id in at_work(home)
        state = RUNNING if works else _left(place) if state == RUNNING else state
    return Last(place.id, state, why)


def _left(place: Place) -> str:
    """How a run stands that nobody is at work on at this moment: an agent's goes on with its next call."""
    try:
        with open(place.journal, "rb") as file:
            return BY_AGENT if _entry(file.readline(1 << 20)).get("mode") == "agent" else CUT_SHORT
    except OSError:
        return CUT_SHORT


def _state(path: str) -> tuple[str, str]:
    """What the last entry that counts says, and why it waits."""
    for lines in (_lines(path, _TAIL), _lines(path, 0)):
        partial = False
        """Whether these are the entries of a rollback of some steps, which changes nothing for the run."""
        for line in reversed(lines):
            said = _entry(line)
            kind = said.get("kind")
            if kind == kinds.ROLLED_BACK:
                if said.get("whole"):
                    return states.ROLLED_BACK, ""
                partial = True
            elif kind in _ROLLBACK:
                if not partial:
                    return ROLLING_BACK, ""
                partial = kind != kinds.ROLLBACK
            elif kind == kinds.ENDED:
                return str(said.get("status")), ""
            elif kind in (kinds.PAUSED, kinds.REPLANNED):
                return WAITING, str(said.get("why", kinds.APPROVE))
            elif kind not in _BESIDE:
                return RUNNING, ""
    return (RUNNING if lines else states.PENDING), ""


def _lines(path: str, tail: int) -> list[bytes]:
    """The whole lines of a journal, or of so many bytes at its end; none where it is not there."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - tail) if tail else 0)
            data = file.read()
    except OSError:
        return []
    lines = data.split(b"\n")[:-1]
    return lines[1:] if tail and size > tail else lines


def _entry(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
