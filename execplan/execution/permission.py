"""Whether a step may be done now: the one answer for the engine that does steps and for the guard of an agent."""

from __future__ import annotations

import time

from execplan.execution import states
from execplan.execution.attributes import LEVELS
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Final

ALLOW: Final = "allow"
ASK: Final = "ask"
DENY: Final = "deny"
PERSON: Final = "person"
POLICY: Final = "policy"
NOBODY: Final = "NEVER"
"""In place of a level: no step needs a person."""
READS = ("anywhere", "inside", "ask", "none")
"""What an agent may read that is not planned: anything, what lies in the repository, what somebody allows, nothing; the tightest last."""
GRACE: Final = 60
"""Seconds by which the clock that approved may be ahead of the one that runs."""


class Terms(NamedTuple):
    """What was approved, and what the policy approves by itself."""

    how: str
    """`policy` where no person has said yes; else how a person did."""
    max_risk: str | None
    """Steps above it are not covered; None: none is too high."""
    steps: tuple[str, ...] | None
    """The only steps that are covered; None: all."""
    inferred: bool
    """Whether steps that the plan does not say in so many words are covered."""
    approved: float
    """Seconds since 1970."""
    expires: float
    """Seconds since 1970."""
    person_from: str
    """The lowest level of risk that needs a person, or NOBODY."""


class Asked(NamedTuple):
    """A step that is about to be done, and how things stand with it."""

    id: str
    level: str
    """Its risk, as the policy's table and the plan have it."""
    inferred: bool
    status: str
    """As states.py has them."""
    needs: tuple[str, ...]
    """What must be settled before: what it depends on, and whose end its condition is about."""
    calls: int = 0
    """How often it was called in this attempt; an engine calls once."""
    most: int = 1
    """How often it may be."""
    refused: str = ""
    """Why its condition does not hold, or nothing."""
    question: str = ""
    """What somebody is to be asked before, or nothing."""


class Permission(NamedTuple):
    """What may become of a step."""

    kind: str
    """ALLOW, ASK or DENY."""
    why: str = ""
    by: str = ""
    """Of one that is not denied who has approved it: PERSON or POLICY."""


def covers(terms: Terms, step: str, level: str, *, inferred: bool) -> bool:
    """Whether an approval covers a step, given by its id and its risk."""
    low_enough = terms.max_risk is None or LEVELS.index(level) <= LEVELS.index(terms.max_risk)
    named = terms.steps is None or step in terms.steps
    return low_enough and named and (terms.inferred or not inferred)


def needs_person(person_from: str, level: str) -> bool:
    """Whether a step of this risk is for a person to approve, where such of a level and above are."""
    return person_from != NOBODY and LEVELS.index(level) >= LEVELS.index(person_from)


def approver(terms: Terms, step: str, level: str, *, inferred: bool) -> str:
    """Who has approved a step: PERSON, POLICY, or nothing for nobody."""
    covered = covers(terms, step, level, inferred=inferred)
    if covered and terms.how != POLICY:
        return PERSON
    return POLICY if covered or not (inferred or needs_person(terms.person_from, level)) else ""


def wrong_time(terms: Terms, moment: float) -> str:
    """Why an approval does not hold at a moment, in seconds since 1970, or nothing."""
    if moment >= terms.expires:
        return f"the approval expired at {_clock(terms.expires)}"
    if moment < terms.approved - GRACE:
        return f"the approval was given at {_clock(terms.approved)}, which is in the future: the clock was set back"
    return ""


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def permitted(asked: Asked, terms: Terms, status_of: Mapping[str, str], moment: float) -> Permission:
    """Whether a step may be begun, or called once more, at a moment."""
    by = approver(terms, asked.id, asked.level, inferred=asked.inferred)
    for stop in _STOPS:
        if why := stop(asked, terms, status_of, moment, by):
            return Permission(DENY, why)
    return Permission(ASK if asked.question else ALLOW, asked.question, by)


def _unapproved(asked: Asked, terms: Terms, status_of: Mapping[str, str], moment: float, by: str) -> str:
    told = f"{asked.level}, inferred" if asked.inferred else asked.level
    return "" if by else f"nobody has approved {asked.id}, which is {told}"


def _untimely(asked: Asked, terms: Terms, status_of: Mapping[str, str], moment: float, by: str) -> str:
    return wrong_time(terms, moment)


def _settled(asked: Asked, terms: Terms, status_of: Mapping[str, str], moment: float, by: str) -> str:
    if asked.status in (states.PENDING, states.RUNNING, states.AWAITING):
        return ""
    return f"{asked.id} is {asked.status}: it is not done again"


def _early(asked: Asked, terms: Terms, status_of: Mapping[str, str], moment: float, by: str) -> str:
    missing = [name for name in asked.needs if status_of.get(name) not in states.GOOD]
    return f"{asked.id} comes behind {', '.join(missing)}, not done yet" if missing else ""


def _refused(asked: Asked, terms: Terms, status_of: Mapping[str, str], moment: float, by: str) -> str:
    return f"the condition of {asked.id} does not hold: {asked.refused}" if asked.refused else ""


def _too_often(asked: Asked, terms: Terms, status_of: Mapping[str, str], moment: float, by: str) -> str:
    times = "once" if asked.most == 1 else f"{asked.most} times"
    return f"{asked.id} may be called {times}, and was" if asked.calls >= asked.most else ""


_STOPS: Sequence[Callable[[Asked, Terms, Mapping[str, str], float, str], str]] = (
    _unapproved,
    _untimely,
    _settled,
    _early,
    _refused,
    _too_often,
)
