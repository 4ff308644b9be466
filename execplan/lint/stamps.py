"""EP2, the part about time: can the stamps be believed?"""

from __future__ import annotations

from execplan.clock import minute_bounds, read_timestamp
from execplan.lint.rule import CLOCK, ERROR, HINT, WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.plan.model import OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from execplan.clock import Timestamp
    from execplan.plan.model import Entry, Plan, Task

_CLOCK_TOLERANCE = 10
"""Minutes by which the clocks of two machines may differ."""
_ACTIVITY_WINDOW = 60
"""Minutes around midnight in which another stamp shows that somebody was at work."""
_MIN_MIDNIGHTS = 3
"""Stamps of one midnight that are too many to be true."""
MAX_TIMEZONE_OFFSET: Final = 14 * 60
"""Minutes for which a day may go on after it has ended in UTC."""


@rule("EP203", ERROR)
def impossible_timestamp(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
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
        if task.timestamp is not None and not task.timestamp.is_valid:
            yield timestamp_match(plan, task, task.timestamp, f"{task.timestamp.text} is no date that exists")
    for entry in _log_entries(plan):
        timestamp = read_timestamp(entry.date) if entry.date else None
        if timestamp is not None and not timestamp.is_valid:
            yield timestamp_match(plan, entry, timestamp, f"{timestamp.text} is no date that exists")


@rule("EP204", WARNING, needs=CLOCK)
def future_timestamp(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
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
    clock = context.clock
    day = day_start(latest_timestamp_date(plan))
    if clock is None or day is None or clock.has_passed(day + 1440 + MAX_TIMEZONE_OFFSET):
        return
    timestamps: list[tuple[Task | Entry, Timestamp | None]] = [
        (task, task.timestamp)
        for task in plan.tasks
        if task.timestamp is not None and (task.state != OPEN or not task.timestamp.is_bare)
    ]
    timestamps += [(entry, read_timestamp(entry.date)) for entry in _log_entries(plan) if entry.date]
    spans = [(record, timestamp, minute_bounds(timestamp)) for record, timestamp in timestamps if timestamp is not None]
    latest = sorted([(span[0], at) for at, (_, _, span) in enumerate(spans) if span is not None], reverse=True)
    for minute, at in latest:
        if clock.has_passed(minute - _CLOCK_TOLERANCE):
            return
        record, timestamp, _ = spans[at]
        yield timestamp_match(plan, record, timestamp, f"{timestamp.date_time} has not come yet")


@rule("EP211", HINT)
def midnight_timestamps(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
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
    timestamps = [(task.timestamp, task) for task in plan.tasks if task.timestamp is not None and task.timestamp.time]
    midnights = [(timestamp, task) for timestamp, task in timestamps if timestamp.time in ("00:00", "00:00:00")]
    if not midnights:
        return
    spans = [minute_bounds(timestamp) for timestamp, _ in timestamps if timestamp.time[:5] != "00:00"]
    active_hours = {span[0] // _ACTIVITY_WINDOW for span in spans if span is not None}
    suspicious = []
    for timestamp, task in midnights:
        span = minute_bounds(timestamp)
        if span is not None and not active_hours & {span[0] // _ACTIVITY_WINDOW - 1, span[0] // _ACTIVITY_WINDOW}:
            suspicious.append((timestamp, task))
    if len(suspicious) >= _MIN_MIDNIGHTS or len({timestamp.date for timestamp, _ in suspicious}) > 1:
        message = f"{len(suspicious)} stamps say 00:00: where the time is not known, give the date alone"
        yield timestamp_match(plan, suspicious[0][1], suspicious[0][0], message)


def _log_entries(plan: Plan) -> tuple[Entry, ...]:
    return (*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions)


def latest_timestamp_date(plan: Plan) -> str:
    """The latest date of a stamp, or nothing; an impossible one is none."""
    dates = {task.timestamp.date for task in plan.tasks if task.timestamp is not None}
    dates |= {entry.date[:10] for entry in _log_entries(plan) if entry.date}
    for date in sorted(dates, reverse=True):
        timestamp = read_timestamp(date)
        if timestamp is not None and timestamp.is_valid:
            return date
    return ""


def day_start(date: str) -> int | None:
    """The minute in which a date begins in UTC."""
    timestamp = read_timestamp(f"{date}T00:00Z")
    span = minute_bounds(timestamp) if timestamp is not None else None
    return span[0] if span is not None else None


def timestamp_match(plan: Plan, record: Task | Entry, timestamp: Timestamp, message: str) -> RuleMatch:
    """Where a stamp of a task or an entry stands."""
    for at in range(record.start, record.end):
        column = plan.text.lines[at].find(timestamp.text)
        if column >= 0:
            return RuleMatch(message, at, column, at + 1, column + len(timestamp.text))
    return on_line(plan, record.start, message)
