"""EP2, the part about time: can the stamps be believed?"""

from __future__ import annotations

from execplan.clock import minutes, read_stamp
from execplan.lint.rule import CLOCK, ERROR, HINT, WARNING, Given, Place, on_line, rule
from execplan.plan.model import OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from execplan.clock import Stamp
    from execplan.plan.model import Entry, Plan, Task

_APART = 10
"""Minutes by which the clocks of two machines may differ."""
_NEAR = 60
"""Minutes around midnight in which another stamp shows that somebody was at work."""
_OFTEN = 3
"""Stamps of one midnight that are too many to be true."""
WEST: Final = 14 * 60
"""Minutes for which a day may go on after it has ended in UTC."""


@rule("EP203", ERROR)
def impossible_stamp(plan: Plan, given: Given) -> Iterator[Place]:
    """A stamp names a date or a time that does not exist.

    Whoever reads it can't tell what was meant, and no tool can put it in order.

    Bad:
        ## Progress

        - [x] (2026-02-30 25:10Z) Build the parser.
    Good:
        ## Progress

        - [x] (2026-02-28 23:10Z) Build the parser.
    """
    for task in plan.tasks:
        if task.stamp is not None and not task.stamp.possible:
            yield stamp_place(plan, task, task.stamp, f"{task.stamp.text} is no date that exists")
    for entry in _entries(plan):
        stamp = read_stamp(entry.date) if entry.date else None
        if stamp is not None and not stamp.possible:
            yield stamp_place(plan, entry, stamp, f"{stamp.text} is no date that exists")


@rule("EP204", WARNING, needs=CLOCK)
def future_stamp(plan: Plan, given: Given) -> Iterator[Place]:
    """A stamp lies in the future.

    It says when something was done or decided, so it can't be later than now: it was guessed, or a digit is wrong. A date
    without a time has come when it has begun anywhere on earth, and ten minutes are left for clocks that differ. The day
    by which an open task is due belongs in its words; a date without parentheses before them is taken for that.

    Bad (now 2026-03-08 12:00Z):
        ## Progress

        - [x] (2026-03-09 23:27Z) Build the parser.
    Good (now 2026-03-08 12:00Z):
        ## Progress

        - [x] (2026-03-08 11:27Z) Build the parser.
    """
    clock = given.clock
    day = day_of(last_date(plan))
    if clock is None or day is None or clock.past(day + 1440 + WEST):
        return
    stamps: list[tuple[Task | Entry, Stamp | None]] = [
        (task, task.stamp)
        for task in plan.tasks
        if task.stamp is not None and (task.state != OPEN or not task.stamp.bare)
    ]
    stamps += [(entry, read_stamp(entry.date)) for entry in _entries(plan) if entry.date]
    spans = [(what, stamp, minutes(stamp)) for what, stamp in stamps if stamp is not None]
    latest = sorted([(span[0], at) for at, (_, _, span) in enumerate(spans) if span is not None], reverse=True)
    for minute, at in latest:
        if clock.past(minute - _APART):
            return
        what, stamp, _ = spans[at]
        yield stamp_place(plan, what, stamp, f"{stamp.moment} has not come yet")


@rule("EP211", HINT)
def midnight(plan: Plan, given: Given) -> Iterator[Place]:
    """Stamps say 00:00, and nobody was at work around that time.

    The time was not known and was filled up with zeros, so it says more than anybody knew. A date alone is honest. One
    midnight may be true: it takes those of two days, or three stamps, and no other stamp within the hour.

    Bad:
        ## Progress

        - [x] (2026-03-07 00:00Z) Read lines.
        - [x] (2026-03-08 00:00Z) Build the parser.
    Good:
        ## Progress

        - [x] (2026-03-07) Read lines.
        - [x] (2026-03-08 21:40Z) Build the parser.
    """
    stamps = [(task.stamp, task) for task in plan.tasks if task.stamp is not None and task.stamp.time]
    zeros = [(stamp, task) for stamp, task in stamps if stamp.time in ("00:00", "00:00:00")]
    if not zeros:
        return
    spans = [minutes(stamp) for stamp, _ in stamps if stamp.time[:5] != "00:00"]
    busy = {span[0] // _NEAR for span in spans if span is not None}
    found = []
    for stamp, task in zeros:
        span = minutes(stamp)
        if span is not None and not busy & {span[0] // _NEAR - 1, span[0] // _NEAR}:
            found.append((stamp, task))
    if len(found) >= _OFTEN or len({stamp.date for stamp, _ in found}) > 1:
        message = f"{len(found)} stamps say 00:00: where the time is not known, give the date alone"
        yield stamp_place(plan, found[0][1], found[0][0], message)


def _entries(plan: Plan) -> tuple[Entry, ...]:
    return (*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions)


def last_date(plan: Plan) -> str:
    """The latest date of a stamp, or nothing; an impossible one is none."""
    dates = {task.stamp.date for task in plan.tasks if task.stamp is not None}
    dates |= {entry.date[:10] for entry in _entries(plan) if entry.date}
    for date in sorted(dates, reverse=True):
        stamp = read_stamp(date)
        if stamp is not None and stamp.possible:
            return date
    return ""


def day_of(date: str) -> int | None:
    """The minute in which a date begins in UTC."""
    stamp = read_stamp(f"{date}T00:00Z")
    span = minutes(stamp) if stamp is not None else None
    return span[0] if span is not None else None


def stamp_place(plan: Plan, what: Task | Entry, stamp: Stamp, message: str) -> Place:
    """Where a stamp of a task or an entry stands."""
    for at in range(what.start, what.end):
        column = plan.text.lines[at].find(stamp.text)
        if column >= 0:
            return Place(message, at, column, at + 1, column + len(stamp.text))
    return on_line(plan, what.start, message)
