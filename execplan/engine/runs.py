"""The runs of plans at a glance: how each stands, what it waits for, and in which state it is filed."""

from __future__ import annotations

import json
import os

from execplan.engine import place as places
from execplan.engine import revisions
from execplan.engine.alone import at_work
from execplan.engine.course import RunState
from execplan.engine.journal import checked, read
from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final

    from execplan.engine.course import Question
    from execplan.engine.journal import Entry
    from execplan.engine.place import RunPaths
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

PENDING: Final = "pending"
ACTIVE: Final = "active"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
ROLLED_BACK: Final = "rolled_back"
ARCHIVED: Final = "archived"
STATES = (PENDING, ACTIVE, COMPLETED, FAILED, ROLLED_BACK, ARCHIVED)
"""The states in which `runs` lists a run: not begun; running, paused or interrupted; ended in one of three ways; or its plan is
in the archive."""
_FILED = {
    states.PENDING: PENDING,
    states.IN_PROGRESS: ACTIVE,
    states.REPLANNING: ACTIVE,
    states.COMPLETED: COMPLETED,
    states.FAILED: FAILED,
    states.ROLLED_BACK: ROLLED_BACK,
}


class Summary(NamedTuple):
    """A run in a line."""

    id: str
    number: int
    """Which run of the plan it is, from 1."""
    plan: str
    """The id of the plan."""
    state: str
    """One of STATES."""
    status: str
    """Of the run, as states.py has them."""
    started: str
    """When it was begun; nothing where it was killed before that."""
    seconds: float | None
    """What it took, of one that has ended."""
    done: int
    """Steps that are completed, skipped or recovered."""
    total: int
    question: Question | None
    """What it waits for."""
    cut_short: bool
    """Whether it is neither at work nor paused nor at its end: it was interrupted or killed."""
    rolling: bool
    """Whether a rollback was cut short."""
    agent: bool
    """Whether an agent carries it out."""
    rolled_back: tuple[str, ...]
    """The steps that were rolled back."""


class Steps(NamedTuple):
    """Of an execution plan no more than a course needs: reading it in full takes longer than all the rest."""

    steps: tuple[Brief, ...]


class Brief(NamedTuple):
    """Of a step its place."""

    number: int
    id: str


def runs(home: Home, refs: Iterable[Ref]) -> list[Summary]:
    """The runs of plans of a home, plan by plan, the last run first; raises ExecplanError."""
    return [summary(home, ref, place) for ref in refs for place in places.every(home, ref)]


def readable(home: Home, refs: Iterable[Ref]) -> tuple[list[Summary], list[str]]:
    """Those of the runs that can be read, and why the others can't."""
    found, broken = [], []
    for ref in refs:
        for place in places.every(home, ref):
            try:
                found.append(summary(home, ref, place))
            except ExecplanError as error:
                broken.append(f"the run {place.id} of {ref.id} can't be read: {error.message}")
    return found, broken


def summary(home: Home, ref: Ref, place: RunPaths) -> Summary:
    """How a run stands; raises ExecplanError."""
    entries = entries_of(place)
    course = brief(place, entries)
    status = course.status
    waits = course.question is not None or status == states.REPLANNING
    at_work = status in (states.PENDING, states.IN_PROGRESS, states.REPLANNING) or course.rolling is not None
    left = at_work and not is_under_way(home, place)
    return Summary(
        id=place.id,
        number=place.number,
        plan=ref.id,
        state=ARCHIVED if ref.archived else _FILED[status],
        status=status,
        started=course.begun.get("at", ""),
        seconds=course.seconds if status in states.ENDED_RUN_STATES else None,
        done=sum([state in states.SUCCESS_STATES and step not in course.undone for step, state in course.status_of.items()]),
        total=len(course.status_of),
        question=course.question,
        cut_short=left and not waits and course.rolling is None and bool(course.begun) and not course.is_agents,
        rolling=left and course.rolling is not None,
        agent=course.is_agents,
        rolled_back=tuple([step for step in course.status_of if step in course.undone]),
    )


def entries_of(place: RunPaths) -> list[Entry]:
    """The journal of a run, empty where it was killed before it wrote one; raises ExecplanError."""
    return checked(read(place.journal), place.journal) if os.path.lexists(place.journal) else []


def last_begun(home: Home, ref: Ref) -> tuple[RunPaths | None, list[Entry]]:
    """The last run of a plan that has begun, with its journal; None where none has. Raises ExecplanError."""
    for place in places.every(home, ref):
        if entries := entries_of(place):
            return place, entries
    return None, []


def brief(place: RunPaths, entries: list[Entry]) -> RunState:
    """How far a run has come, without its document being checked in full; raises ExecplanError."""
    found: Any = Steps(tuple(_steps(revisions.data_of(place, entries)) if entries else ()))
    return RunState(found, entries)


def is_under_way(home: Home, place: RunPaths) -> bool:
    """Whether a process is at work on a run, or a run is being rolled back: there is only one at a time in a home."""
    return place.id in at_work(home)


def _steps(data: bytes) -> Iterable[Brief]:
    return [Brief(each["number"], each["id"]) for each in json.loads(data)["steps"]]
