"""EP2, the part about order: do the stamps rise?"""

from __future__ import annotations

from operator import gt, lt

from execplan.clock import minute_bounds
from execplan.lint.rule import HINT, RuleContext, RuleMatch, rule
from execplan.lint.stamps import timestamp_match
from execplan.plan.model import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.plan.model import Plan, Task

_ORDER_TOLERANCE = 5
"""Minutes around a time that do not count: some tasks were ticked in one go."""
_MIN_TIMESTAMPS = 5
"""Stamps of which all but one show an order."""


@rule("EP205", HINT)
def timestamp_out_of_order(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """A stamp of a done task does not fit the order of those around it.

    Progress is read from top to bottom as what happened. Where all stamps of a list rise, or all fall, but for one in ten
    at most, such a one is mistyped, made up, or of another time zone; or its task belongs elsewhere in the list. Lists
    without such an order are left alone, and ten minutes do not count.

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
        if sum(map(gt, starts, starts[1:])) > sum(map(lt, starts, starts[1:])):
            spans = [(-last, -first) for first, last in spans]  # the newest comes first
        misfits = _find_misfits(spans)
        if misfits and len(misfits) <= max(len(tasks) // 10, 1):
            task, other = tasks[misfits[0][0]], tasks[misfits[0][1]]
            if task.timestamp is not None and other.timestamp is not None:
                overflow = f", and {len(misfits) - 1} more" if len(misfits) > 1 else ""
                side = "above" if other.number < task.number else "below"
                message = f"out of order: task {other.number} {side} has {other.timestamp.text}{overflow}"
                yield timestamp_match(plan, task, task.timestamp, message)


def group_tasks(tasks: Sequence[Task]) -> list[tuple[str, int]]:
    """For each task the sub-heading above it and the line of the task that it is nested in, or -1."""
    groups = []
    ancestors: list[Task] = []
    for task in tasks:
        while ancestors and ancestors[-1].item_end <= task.start:
            ancestors.pop()
        groups.append((task.heading, ancestors[-1].start if ancestors else -1))
        ancestors.append(task)
    return groups


def _timestamp_spans(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """The first and last minute of each stamp; stamps of one unknown zone are compared as they stand."""
    timestamps = [task.timestamp for task in tasks if task.timestamp is not None]
    if len({timestamp.zone for timestamp in timestamps}) == 1:
        timestamps = [timestamp._replace(zone="Z") for timestamp in timestamps]
    spans = []
    for timestamp in timestamps:
        first, last = minute_bounds(timestamp) or (0, 0)
        spans.append((first - _ORDER_TOLERANCE, last + _ORDER_TOLERANCE) if timestamp.time else (first, last))
    return spans


def _find_misfits(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Which spans, and against which other, break the rise of a list: those too early, or if they are fewer those too late."""
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
