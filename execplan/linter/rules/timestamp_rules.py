"""EP2 rules about timestamps: impossible, future, midnight and out-of-order ones."""

from __future__ import annotations

from itertools import pairwise

from execplan.core.plan.model import DONE, OPEN
from execplan.core.plan.plan_dates import day_start, latest_timestamp_date, log_entries
from execplan.core.text.message_parts import format_excess
from execplan.core.timestamps import minute_bounds, read_timestamp
from execplan.linter.rule import CLOCK, ERROR, HINT, WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

    from execplan.core.plan.model import Entry, ParsedPlan, Task
    from execplan.core.timestamps import Timestamp


_CLOCK_TOLERANCE = 10
"""Minutes that the clocks of two machines may differ."""
_ACTIVITY_WINDOW = 60
"""Minutes around midnight in which another timestamp shows that someone was at work."""
_MIN_MIDNIGHTS = 3
"""Number of timestamps at one midnight that is implausible."""
MAX_TIMEZONE_OFFSET: Final = 14 * 60
"""Minutes that a day may continue after it has ended in UTC."""


@rule("EP203", ERROR)
def impossible_timestamp(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A timestamp has a date or a time that does not exist.

    A reader can't tell what was meant, and no tool can sort it.

    Bad:
        ## Progress

        - [x] (2026-02-30 25:10Z) Build the parser.
    Good:
        ## Progress

        - [x] (2026-02-28 23:10Z) Build the parser.
    """
    for task in plan.tasks:
        if task.timestamp is not None and not task.timestamp.is_valid:
            yield timestamp_match(plan, task, task.timestamp, f"{task.timestamp.text} is not a valid timestamp")
    for entry in log_entries(plan):
        timestamp = read_timestamp(entry.date) if entry.date else None
        if timestamp is not None and not timestamp.is_valid:
            yield timestamp_match(plan, entry, timestamp, f"{timestamp.text} is not a valid timestamp")


@rule("EP204", WARNING, needs=CLOCK)
def future_timestamp(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A timestamp is in the future.

    It records when something was done or decided, so it can't be later than now: it was guessed, or a digit is wrong. A
    date without a time is accepted once it has begun anywhere on earth, and clocks can differ by ten minutes. Write the
    due date of an open task in its text; a date without parentheses at the beginning also counts as a due date.

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
    timestamps += [(entry, read_timestamp(entry.date)) for entry in log_entries(plan) if entry.date]
    spans = [(record, timestamp, minute_bounds(timestamp)) for record, timestamp in timestamps if timestamp is not None]
    latest = sorted([(span[0], at) for at, (_, _, span) in enumerate(spans) if span is not None], reverse=True)
    for minute, at in latest:
        if clock.has_passed(minute - _CLOCK_TOLERANCE):
            return
        record, timestamp, _ = spans[at]
        yield timestamp_match(plan, record, timestamp, f"{timestamp.date_time} is in the future")


@rule("EP211", HINT)
def midnight_timestamps(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Timestamps say 00:00, but nobody worked around that time.

    The time was unknown and was filled in with zeros, which suggests a precision that nobody had. Write only the date.
    A single midnight can be true. The rule reports them only if they are on two days or there are three, and no other
    timestamp is within an hour of midnight.

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
        message = f"{len(suspicious)} timestamps say 00:00; if the time is unknown, write only the date"
        yield timestamp_match(plan, suspicious[0][1], suspicious[0][0], message)


def timestamp_match(plan: ParsedPlan, record: Task | Entry, timestamp: Timestamp, message: str) -> RuleMatch:
    """Return a match at the timestamp of a task or an entry."""
    for at in range(record.start, record.end):
        column = plan.text.lines[at].find(timestamp.text)
        if column >= 0:
            return RuleMatch(message, at, column, at + 1, column + len(timestamp.text))
    return on_line(plan, record.start, message)


_ORDER_TOLERANCE = 5
"""Minutes around a time that do not count, because several tasks may be checked off at once."""
_MIN_TIMESTAMPS = 5
"""Minimum number of timestamps, all but one of which show an order."""


@rule("EP205", HINT)
def timestamp_out_of_order(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A timestamp of a done task does not fit the order of the timestamps around it.

    Progress is read from top to bottom as a chronology. If the timestamps of a list ascend, or descend, with at
    most one exception in ten, the exception is mistyped, invented, or in another time zone, or its task belongs
    elsewhere in the list. Lists without such an order are not checked, and differences of up to ten minutes don't
    count.

    Bad:
        ## Progress

        - [x] (2026-03-07 20:10Z) Read lines.
        - [x] (2026-03-07 21:05Z) Build the scanner.
        - [x] (2026-03-06 22:40Z) Build the reader.
        - [x] (2026-03-07 23:27Z) Write the tests.
        - [x] (2026-03-08 08:10Z) Build the writers.
    Good:
        ## Progress

        - [x] (2026-03-07 20:10Z) Read lines.
        - [x] (2026-03-07 21:05Z) Build the scanner.
        - [x] (2026-03-07 22:40Z) Build the reader.
        - [x] (2026-03-07 23:27Z) Write the tests.
        - [x] (2026-03-08 08:10Z) Build the writers.
    """
    timestamps = [task.timestamp for task in plan.tasks if task.timestamp is not None]
    times = [timestamp.date + timestamp.time for timestamp in timestamps]
    if times == sorted(times) and len({timestamp.zone for timestamp in timestamps}) < 2:
        return
    lists: dict[tuple[str, int], list[Task]] = {}
    for task, group in zip(plan.tasks, group_tasks(plan.tasks), strict=True):
        if task.state == DONE and task.timestamp is not None and task.timestamp.is_valid:
            lists.setdefault(group, []).append(task)
    for tasks in lists.values():
        if len(tasks) < _MIN_TIMESTAMPS:
            continue
        spans = _timestamp_spans(tasks)
        starts = [first for first, _ in spans]
        pairs = list(pairwise(starts))
        if sum([first > second for first, second in pairs]) > sum([first < second for first, second in pairs]):
            spans = [(-last, -first) for first, last in spans]  # newest first
        misfits = _find_misfits(spans)
        if misfits and len(misfits) <= max(len(tasks) // 10, 1):
            task, other = tasks[misfits[0][0]], tasks[misfits[0][1]]
            if task.timestamp is not None and other.timestamp is not None:
                overflow = format_excess(len(misfits), 1, ", ")
                side = "above" if other.number < task.number else "below"
                message = f"out of order: task {other.number} {side} has {other.timestamp.text}{overflow}"
                yield timestamp_match(plan, task, task.timestamp, message)


def group_tasks(tasks: Sequence[Task]) -> list[tuple[str, int]]:
    """Return, for each task, the subheading above it and the line of its parent task, or -1."""
    groups = []
    ancestors: list[Task] = []
    for task in tasks:
        while ancestors and ancestors[-1].item_end <= task.start:
            ancestors.pop()
        groups.append((task.heading, ancestors[-1].start if ancestors else -1))
        ancestors.append(task)
    return groups


def _timestamp_spans(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """Return the first and last minute of each timestamp; those in one unknown time zone are compared directly."""
    timestamps = [task.timestamp for task in tasks if task.timestamp is not None]
    if len({timestamp.zone for timestamp in timestamps}) == 1:
        timestamps = [timestamp._replace(zone="Z") for timestamp in timestamps]
    spans = []
    for timestamp in timestamps:
        first, last = minute_bounds(timestamp) or (0, 0)
        spans.append((first - _ORDER_TOLERANCE, last + _ORDER_TOLERANCE) if timestamp.time else (first, last))
    return spans


def _find_misfits(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans that break an ascending order, each with the one it conflicts with.

    These are the spans that are too early or those that are too late, whichever are fewer.
    """
    early, late = [], []
    top = 0
    for at, (first, last) in enumerate(spans):
        if last < spans[top][0]:
            early.append((at, top))
        elif first > spans[top][0]:
            top = at
    low = len(spans) - 1
    for at in range(len(spans) - 1, -1, -1):
        first, last = spans[at]
        if first > spans[low][1]:
            late.append((at, low))
        elif last < spans[low][1]:
            low = at
    return early if len(early) <= len(late) else late[::-1]
