"""How the last run of a plan stands, read from the end of its journal: `status` asks of every open plan."""

from __future__ import annotations

import json
import os

from execplan.engine import entries as kinds
from execplan.engine import place as places
from execplan.engine.alone import at_work
from execplan.execution import states
from execplan.record import NamedTuple
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from execplan.engine.place import RunPaths
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
    reason: str = ""
    """Why it failed, also where it was rolled back since; nothing for other runs."""
    ended: str = ""
    """When it failed, or ended before it was rolled back, in UTC; nothing for other runs."""

    def told(self) -> dict[str, str | None]:
        """As a document shows it."""
        return {**self._asdict(), **{name: getattr(self, name) or None for name in ("why", "reason", "ended")}}


def last(home: Home, ref: Ref) -> Last | None:
    """How the last run of a plan stands, None where it was never run; raises ExecplanError."""
    for place in places.every(home, ref):
        found = how(home, place)
        if found.state != states.PENDING:
            return found
    return None


def how(home: Home, place: RunPaths) -> Last:
    """How a run stands, pending where it was killed before it began; raises ExecplanError."""
    state, said = _state(place.journal)
    if state in (RUNNING, ROLLING_BACK):
        works = place.id in at_work(home)
        state = RUNNING if works else _left(place) if state == RUNNING else state
    why = str(said.get("why", kinds.APPROVE)) if state == WAITING else ""
    if state not in (states.FAILED, states.ROLLED_BACK):
        return Last(place.id, state, why)
    reason = str(said.get("reason", "")) if said.get("status") == states.FAILED else ""
    return Last(place.id, state, why, reason, str(said.get("at", "")))


def _left(place: RunPaths) -> str:
    """How a run stands that nobody is at work on at this moment: an agent's goes on with its next call."""
    try:
        with open(disk.open_regular(place.journal), "rb") as file:
            return BY_AGENT if _entry(file.readline(1 << 20)).get("mode") == "agent" else CUT_SHORT
    except OSError:
        return CUT_SHORT


def _state(path: str) -> tuple[str, dict[str, Any]]:
    """What the last entry that counts says of the run, and that entry: of a run that was rolled back, how it had ended."""
    for lines in (_lines(path, _TAIL), _lines(path, 0)):
        partial = False
        """Whether these are the entries of a rollback of some steps, which changes nothing for the run."""
        for at in range(len(lines) - 1, -1, -1):
            said = _entry(lines[at])
            kind = said.get("kind")
            if kind == kinds.ROLLED_BACK:
                if said.get("whole"):
                    return states.ROLLED_BACK, _ended(lines[:at]) or _ended(_lines(path, 0))
                partial = True
            elif kind in _ROLLBACK:
                if not partial:
                    return ROLLING_BACK, said
                partial = kind != kinds.ROLLBACK
            elif kind == kinds.ENDED:
                return str(said.get("status")), said
            elif kind in (kinds.PAUSED, kinds.REPLANNED):
                return WAITING, said
            elif kind not in _BESIDE:
                return RUNNING, said
    return (RUNNING if lines else states.PENDING), {}


def _ended(lines: list[bytes]) -> dict[str, Any]:
    """The last entry among some lines of a journal that says how the run ended; empty where none does."""
    mark = f'"{kinds.ENDED}"'.encode()
    found = [_entry(line) for line in reversed(lines) if mark in line]
    return next((each for each in found if each.get("kind") == kinds.ENDED), {})


def _lines(path: str, tail: int) -> list[bytes]:
    """The whole lines of a journal, or of so many bytes at its end; none where it is not there."""
    try:
        with open(disk.open_regular(path), "rb") as file:
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
