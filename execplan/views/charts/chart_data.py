"""The data of each chart, computed from tasks, plans and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ACTIVE, DONE, DRAFT, ParsedPlan
from execplan.core.plan.plan_lookup import ids_for_texts, task_ids
from execplan.core.text.message_parts import format_count
from execplan.team.history import history_event
from execplan.team.history.history_event import HistoryEvent
from execplan.views.charts.chart import AGE, BARS, BURN_UP, LEAD_TIME, LINES, RUNS, WEEKLY, Chart, Series

_Tasks = dict[tuple[str, str], "TaskTimes"]

"""Tasks by the path of their plan and their ID."""


class TaskTimes(NamedTuple):
    """A task with the times of its changes in git, in seconds since 1970."""

    path: str
    """Path of the plan from the repository root."""
    task_id: str
    added: int
    done: int | None = None
    """When it was checked off for the last time; None if it is open."""
    removed: int | None = None
    """When it was removed or dropped, or its plan was deleted for good; None if it is still there."""


class StampedTask(NamedTuple):
    """A task of a plan as it is now."""

    path: str
    """Path of the plan from the repository root."""
    task_id: str
    is_done: bool
    day: str
    """Day of its timestamp in the form YYYY-MM-DD; empty without a valid one."""


def stamped_tasks(path: str, plan: ParsedPlan) -> list[StampedTask]:
    """Return the tasks of the plan at a path, without dropped ones."""
    return [
        StampedTask(
            path,
            task_id,
            task.state == DONE,
            task.timestamp.date if task.timestamp is not None and task.timestamp.is_valid else "",
        )
        for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True)
        if not task.is_dropped
    ]


def replay_tasks(events: Sequence[HistoryEvent]) -> list[TaskTimes]:
    """Return the tasks that events, given newest first, report; those that were removed too."""
    tasks: _Tasks = {}
    removed_tasks: list[TaskTimes] = []
    tasks_of_deleted_plans: _Tasks = {}
    for event in _oldest_first(events):
        if event.kind == history_event.DELETED:
            for key in _keys_of_plan(tasks, event.path):
                tasks_of_deleted_plans[key] = tasks.pop(key)._replace(removed=event.time)
        elif event.kind == history_event.RESTORED:
            for key in _keys_of_plan(tasks_of_deleted_plans, event.path):
                tasks[key] = tasks_of_deleted_plans.pop(key)._replace(removed=None)
        else:
            _replay_task_event(event, tasks, removed_tasks)
    return [*tasks.values(), *removed_tasks, *tasks_of_deleted_plans.values()]


def _replay_task_event(event: HistoryEvent, tasks: _Tasks, removed_tasks: list[TaskTimes]) -> None:
    """Update the tasks for an event; one that was removed moves to the others."""
    key = event.path, event.task_id
    if event.kind == history_event.TASK_ADDED:
        tasks[key] = TaskTimes(event.path, event.task_id, event.time)
    elif event.kind == history_event.TASK_REWORDED:
        task = _pop_task(tasks, event.path, event.previous)
        if task is not None:
            tasks[key] = task._replace(task_id=event.task_id)
    elif event.kind == history_event.TASK_REMOVED:
        if key in tasks:
            removed_tasks.append(tasks.pop(key)._replace(removed=event.time))
    elif key in tasks and event.kind == history_event.TASK_DONE:
        tasks[key] = tasks[key]._replace(done=event.time, removed=None)
    elif key in tasks and event.kind in (history_event.TASK_REOPENED, history_event.TASK_MARKED):
        tasks[key] = tasks[key]._replace(done=None, removed=event.time if event.detail == "-" else None)


def _keys_of_plan(tasks: _Tasks, path: str) -> list[tuple[str, str]]:
    return [key for key in tasks if key[0] == path]


def _oldest_first(events: Sequence[HistoryEvent]) -> Iterator[HistoryEvent]:
    """Yield events given newest first; those of one change of a plan stay in their order."""
    changes: Iterable[list[HistoryEvent]] = [
        list(change) for _, change in groupby(events, lambda event: (event.commit, event.path))
    ]
    for change in reversed(list(changes)):
        yield from change


def _pop_task(tasks: _Tasks, path: str, text: str) -> TaskTimes | None:
    """Take the task with this text out of the tasks; None if there is none, because a broken version hid it."""
    return tasks.pop((path, ids_for_texts([text])[0]), None)


_MAX_WEEKS = 52
"""Maximum number of weeks with a bar each, the latest ones."""
_TOLERATED_DAYS = 1
"""Days by which a timestamp and git may differ, because a time zone or a late commit can move the day."""
_DURATIONS = (
    ("0", 0),
    ("1", 1),
    ("2-3", 3),
    ("4-7", 7),
    ("8-14", 14),
    ("15-30", 30),
    ("31-90", 90),
    ("over 90", None),
)
"""Ranges of days, with the last day of each."""
_AGES = (
    ("up to 1 week", 7),
    ("1-4 weeks", 28),
    ("1-3 months", 91),
    ("3-6 months", 182),
    ("6-12 months", 365),
    ("longer", None),
)
_RUN_COLORS = {"completed": "green", "failed": "red", "rolled_back": "amber", "active": "blue", "pending": "gray"}
"""Colors of the states of runs that have their own series; others are one more."""


class PlanAge(NamedTuple):
    """An open plan and the day when it began."""

    state: str
    day: str
    """Day at the start of the plan's ID, or else of its first task in git; empty if neither is known."""


class RunResult(NamedTuple):
    """A run and the day when it started."""

    state: str
    day: str


def day_of(seconds: int) -> str:
    """Return the day of a time in seconds since 1970, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def burn_up(tasks: Sequence[TaskTimes] | None, stamped: Sequence[StampedTask], today: str) -> Chart:
    """Return the chart of all tasks and of done tasks day by day.

    `tasks` come from git and are None without it. Two lines for done tasks differ where git and the timestamps in plans
    do; a note says how often. Timestamps in the future are left out.
    """
    dated, notes = _without_future([task.day for task in stamped if task.is_done and task.day], today)
    done_days = Counter(dated)
    if unstamped := len([task for task in stamped if task.is_done and not task.day]):
        notes.append(_missing_note(unstamped, "done task", "timestamp"))
    if tasks is None:
        days = sorted({*done_days, today})
        total = Series("tasks now", (len(stamped),) * len(days), "gray")
        return Chart(
            BURN_UP,
            "Tasks in total and done",
            LINES,
            tuple(days),
            (total, Series("done by timestamp", _accumulate(done_days, days), "green")),
            "tasks",
            "date",
            tuple(notes),
        )
    total_changes = Counter([day_of(task.added) for task in tasks])
    total_changes.subtract([day_of(task.removed) for task in tasks if task.removed is not None])
    git_changes = Counter([day_of(task.done) for task in tasks if task.done is not None])
    git_changes.subtract([day_of(task.removed) for task in tasks if task.done is not None and task.removed is not None])
    days = sorted({*total_changes, *git_changes, *done_days, today})
    series = (
        Series("tasks", _accumulate(total_changes, days), "gray"),
        Series("done in git", _accumulate(git_changes, days), "green"),
        Series("done by timestamp", _accumulate(done_days, days), "amber", is_dashed=True),
    )
    notes += _disagreements(tasks, stamped)
    return Chart(BURN_UP, "Tasks in total and done", LINES, tuple(days), series, "tasks", "date", tuple(notes))


def _missing_note(count: int, noun: str, missing: str) -> str:
    """Return a note about plans or tasks that lack a date or timestamp."""
    return f"{format_count(count, noun)} {'has' if count == 1 else 'have'} no {missing}."


def _accumulate(changes: Counter[str], days: Sequence[str]) -> tuple[int, ...]:
    """Return the sum of the changes up to each day."""
    total, values = 0, []
    for day in days:
        total += changes[day]
        values.append(total)
    return tuple(values)


def _disagreements(tasks: Sequence[TaskTimes], stamped: Sequence[StampedTask]) -> list[str]:
    """Return notes about done tasks whose timestamps and commits differ."""
    git_days = {
        (task.path, task.task_id): day_of(task.done) for task in tasks if task.done is not None and task.removed is None
    }
    dated = [task for task in stamped if task.is_done and task.day]
    differing = [
        task
        for task in dated
        if (git_day := git_days.get((task.path, task.task_id))) is not None
        and abs(_days_between(task.day, git_day)) > _TOLERATED_DAYS
    ]
    if not differing:
        return []
    verb = "differs" if len(differing) == 1 else "differ"
    return [f"{len(differing)} of {format_count(len(dated), 'timestamp')} {verb} from git by more than a day."]


def _days_between(start: str, end: str) -> int:
    return (date.fromisoformat(end) - date.fromisoformat(start)).days


def weekly(tasks: Sequence[TaskTimes] | None, stamped: Iterable[StampedTask], today: str) -> Chart:
    """Return the chart of tasks done per week, by their timestamps or else by git, without dates in the future."""
    git_days = {(task.path, task.task_id): day_of(task.done) for task in tasks or () if task.done is not None}
    days = [task.day or git_days.get((task.path, task.task_id), "") for task in stamped if task.is_done]
    dated, notes = _without_future([day for day in days if day], today)
    if undated := days.count(""):
        notes.append(_missing_note(undated, "done task", "date"))
    weeks, note = _weeks(dated)
    counts = Counter(map(_monday, dated))
    series = Series("done", tuple([counts[week] for week in weeks]), "green")
    return Chart(WEEKLY, "Tasks done per week", BARS, tuple(weeks), (series,), "tasks", "week", (*notes, *note))


def _without_future(days: Sequence[str], today: str) -> tuple[list[str], list[str]]:
    """Return the days up to today, and a note about others: one wrong year would leave no room for the rest."""
    latest = (date.fromisoformat(today) + timedelta(days=_TOLERATED_DAYS)).isoformat()
    past = [day for day in days if day <= latest]
    count = len(days) - len(past)
    return past, [f"Left out: {format_count(count, 'done task')} dated in the future."] if count else []


def lead_time(tasks: Sequence[TaskTimes] | None) -> Chart:
    """Return the chart of the days from adding tasks to checking them off, according to git."""
    title, unit, axis = "Days from added to done", "tasks", "days"
    labels = tuple([label for label, _ in _DURATIONS])
    if tasks is None:
        return Chart(LEAD_TIME, title, BARS, labels, (), unit, axis, ("Only git knows when a task was added.",))
    done = [(task.added, task.done) for task in tasks if task.done is not None and task.removed is None]
    timed = [(added, finished) for added, finished in done if finished > added]
    counts = Counter([_range_of(_days_between(day_of(added), day_of(end)), _DURATIONS) for added, end in timed])
    notes = (
        (f"Left out: {format_count(len(done) - len(timed), 'task')} not done later than added, as in the same commit.",)
        if len(timed) < len(done)
        else ()
    )
    return Chart(
        LEAD_TIME,
        title,
        BARS,
        labels,
        (Series("tasks", tuple([counts[label] for label in labels])),),
        unit,
        axis,
        notes,
    )


def age(plans: Sequence[PlanAge], today: str) -> Chart:
    """Return the chart of the ages of open plans."""
    labels = tuple([label for label, _ in _AGES])
    dated = [plan for plan in plans if plan.day]
    counts = Counter([(plan.state, _range_of(max(_days_between(plan.day, today), 0), _AGES)) for plan in dated])
    series = tuple(
        [
            Series(state, tuple([counts[state, label] for label in labels]), color)
            for state, color in ((ACTIVE, "green"), (DRAFT, "amber"))
        ]
    )
    notes = (_missing_note(len(plans) - len(dated), "plan", "date"),) if len(dated) < len(plans) else ()
    return Chart(AGE, "Age of the open plans", BARS, labels, series, "plans", "age", notes)


def runs(results: Sequence[RunResult]) -> Chart:
    """Return the chart of the results of runs by the week in which they started."""
    dated = [result for result in results if result.day]
    weeks, note = _weeks([result.day for result in dated])
    counts = Counter([(result.state, _monday(result.day)) for result in dated])
    states = [*_RUN_COLORS, *sorted({result.state for result in dated} - set(_RUN_COLORS))]
    series = [
        Series(state.replace("_", " "), tuple([counts[state, week] for week in weeks]), _RUN_COLORS.get(state, "gray"))
        for state in states
    ]
    return Chart(
        RUNS,
        "Results of runs per week",
        BARS,
        tuple(weeks),
        tuple([part for part in series if any(part.values)]),
        "runs",
        "week",
        note,
    )


def _monday(day: str) -> str:
    """Return the Monday of the week of a day."""
    parsed = date.fromisoformat(day)
    return (parsed - timedelta(days=min(parsed.weekday(), (parsed - date.min).days))).isoformat()


def _weeks(days: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the Mondays of all weeks from the first to the last day, and a note if there are too many to show."""
    if not days:
        return [], ()
    first, last = date.fromisoformat(_monday(min(days))), date.fromisoformat(_monday(max(days)))
    count = (last - first).days // 7 + 1
    week_count = min(count, _MAX_WEEKS)
    weeks = [(last - timedelta(weeks=week_count - 1 - at)).isoformat() for at in range(week_count)]
    return weeks, (f"Only the last {_MAX_WEEKS} of {count:,} weeks.",) if count > week_count else ()


def _range_of(days: int, ranges: Sequence[tuple[str, int | None]]) -> str:
    """Return the name of the range that contains a number of days."""
    return next(label for label, last in ranges if last is None or days <= last)
