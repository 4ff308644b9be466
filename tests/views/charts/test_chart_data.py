"""The numbers of charts, from tasks, plans and runs."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from execplan.views.charts import chart_data
from execplan.views.charts.chart import Chart
from execplan.views.charts.chart_data import PlanAge, RunResult, StampedTask, TaskTimes

DAY = 86_400
FIRST = 1_767_225_600
"""2026-01-01 00:00 UTC, a Thursday."""


def values(chart: Chart) -> dict[str, tuple[int, ...]]:
    return {series.name: series.values for series in chart.series}


def test_burn_up() -> None:
    tasks = [
        TaskTimes("a", "t1", FIRST, FIRST + DAY),
        TaskTimes("a", "t2", FIRST, FIRST + 5 * DAY),
        TaskTimes("a", "t3", FIRST + DAY, None, FIRST + 2 * DAY),
        TaskTimes("a", "t4", FIRST + DAY, FIRST + DAY, FIRST + 2 * DAY),
    ]
    stamped = [
        StampedTask("a", "t1", is_done=True, day="2026-01-01"),
        StampedTask("a", "t2", is_done=True, day="2026-01-03"),
        StampedTask("a", "t5", is_done=True, day=""),
        StampedTask("a", "t6", is_done=False, day="2026-01-02"),
    ]
    chart = chart_data.burn_up(tasks, stamped, "2026-01-07")
    assert chart.labels == ("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-06", "2026-01-07")
    assert values(chart) == {
        "tasks": (2, 4, 2, 2, 2),
        "done in git": (0, 2, 1, 2, 2),
        "done by timestamp": (1, 1, 2, 2, 2),
    }
    assert chart.notes == ("1 done task has no timestamp.", "1 of 2 timestamps differs from git by more than a day.")
    assert chart.description == (
        "Tasks in total and done from 2026-01-01 to 2026-01-07: tasks 2; done in git 2; done by timestamp 2. "
        "1 done task has no timestamp. 1 of 2 timestamps differs from git by more than a day."
    )
    both = [StampedTask("a", task_id, is_done=True, day="2025-12-01") for task_id in ("t1", "t2")]
    undated = [StampedTask("a", task_id, is_done=True, day="") for task_id in ("t5", "t6")]
    assert chart_data.burn_up(tasks, [*both, *undated], "2026-01-07").notes == (
        "2 done tasks have no timestamp.",
        "2 of 2 timestamps differ from git by more than a day.",
    )
    without_git = chart_data.burn_up(None, stamped, "2026-01-07")
    assert values(without_git) == {"tasks now": (4, 4, 4), "done by timestamp": (1, 2, 2)}


def test_weekly() -> None:
    tasks = [TaskTimes("a", "t2", FIRST, FIRST + 14 * DAY)]
    stamped = [
        StampedTask("a", "t1", is_done=True, day="2026-01-04"),  # a Sunday
        StampedTask("a", "t2", is_done=True, day=""),
        StampedTask("a", "t3", is_done=True, day=""),
        StampedTask("a", "t4", is_done=False, day="2026-05-04"),
    ]
    chart = chart_data.weekly(tasks, stamped, "2026-01-20")
    assert chart.labels == ("2025-12-29", "2026-01-05", "2026-01-12")
    assert values(chart) == {"done": (1, 0, 1)}
    assert chart.notes == ("1 done task has no date.",)
    assert chart_data.weekly(None, [], "2026-01-20").is_empty


def test_weekly_shows_a_year() -> None:
    stamped = [
        StampedTask("a", "t1", is_done=True, day=day)
        for day in ("0001-01-01", "2025-06-04", "2026-05-04", "9999-12-31")
    ]
    chart = chart_data.weekly(None, stamped, "9999-12-30")
    assert len(chart.labels) == 52
    assert values(chart) == {"done": (*([0] * 51), 1)}
    assert chart.notes == ("Only the last 52 of 521,723 weeks.",)


def test_a_wrong_year_in_the_future_hides_nothing() -> None:
    stamped = [
        StampedTask("a", "t1", is_done=True, day=day)
        for day in ("2026-05-04", "2026-05-12", "2026-05-13", "2062-05-04")
    ]
    chart = chart_data.weekly(None, stamped, "2026-05-12")  # a time zone may be a day ahead
    assert chart.labels == ("2026-05-04", "2026-05-11")
    assert values(chart) == {"done": (1, 2)}
    assert chart.notes == ("Left out: 1 done task dated in the future.",)
    chart = chart_data.burn_up(None, stamped, "2026-05-12")
    assert chart.labels == ("2026-05-04", "2026-05-12", "2026-05-13")
    assert values(chart)["done by timestamp"] == (1, 2, 3)
    assert chart.notes == ("Left out: 1 done task dated in the future.",)


def test_lead_time() -> None:
    days = (0, 1, 3, 4, 30, 31, 400)
    tasks = [TaskTimes("a", f"t{at}", FIRST, FIRST + at * DAY + 60) for at in days]
    tasks += [
        TaskTimes("a", "x", FIRST, FIRST),
        TaskTimes("a", "y", FIRST),
        TaskTimes("a", "z", FIRST, FIRST + 9, FIRST + 10),
    ]
    chart = chart_data.lead_time(tasks)
    assert values(chart) == {"tasks": (1, 1, 1, 1, 0, 1, 1, 1)}
    assert (chart.axis, chart.labels) == ("days", ("0", "1", "2-3", "4-7", "8-14", "15-30", "31-90", "over 90"))
    assert chart.notes == ("Left out: 1 task not done later than added, as in the same commit.",)
    assert chart_data.lead_time(None).notes == ("Only git knows when a task was added.",)


def test_age() -> None:
    plans = [
        PlanAge("active", "2026-01-01"),
        PlanAge("draft", "2026-01-01"),
        PlanAge("active", "2026-02-01"),
        PlanAge("draft", ""),
    ]
    plans += [PlanAge("active", "2024-01-01"), PlanAge("active", "2027-01-01")]
    chart = chart_data.age(plans, "2026-02-08")
    assert values(chart) == {"active": (2, 0, 1, 0, 0, 1), "draft": (0, 0, 1, 0, 0, 0)}
    assert chart.labels[0] == "up to 1 week"
    assert chart.notes == ("1 plan has no date.",)


def test_runs() -> None:
    results = [
        RunResult("completed", "2026-01-01"),
        RunResult("rolled_back", "2026-01-02"),
        RunResult("odd", "2026-01-09"),
        RunResult("pending", ""),
    ]
    chart = chart_data.runs(results)
    assert chart.labels == ("2025-12-29", "2026-01-05")
    assert values(chart) == {"completed": (1, 0), "rolled back": (1, 0), "odd": (0, 1)}


DAYS = st.dates(date(2020, 1, 1), date(2026, 12, 31))
TIMES = DAYS.map(lambda day: int((day - date(1970, 1, 1)) / timedelta(seconds=1)))


@given(st.lists(st.tuples(TIMES, st.none() | TIMES, st.none() | TIMES), max_size=30), DAYS)
def test_the_last_day_has_the_tasks_of_now(times: list[tuple[int, int | None, int | None]], today: date) -> None:
    tasks = [TaskTimes("a", f"t{at}", *fields) for at, fields in enumerate(times)]
    chart = chart_data.burn_up(tasks, [], today.isoformat())
    assert list(chart.labels) == sorted(set(chart.labels))
    remaining = [task for task in tasks if task.removed is None]
    assert values(chart)["tasks"][-1] == len(remaining)
    assert values(chart)["done in git"][-1] == len([task for task in remaining if task.done is not None])


@given(st.lists(DAYS, max_size=30))
def test_every_task_of_the_last_year_is_in_its_week(days: list[date]) -> None:
    chart = chart_data.weekly(
        None, [StampedTask("a", "t", is_done=True, day=day.isoformat()) for day in days], "2026-12-31"
    )
    for label, value in zip(chart.labels, chart.series[0].values, strict=True):
        monday = date.fromisoformat(label)
        assert monday.weekday() == 0
        assert value == len([day for day in days if 0 <= (day - monday).days < 7])
