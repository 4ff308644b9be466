"""Charts as text."""

from __future__ import annotations

import sys

import pytest

from execplan.core import installation
from execplan.core.errors import ExecplanError
from execplan.views.charts import chart_data, chart_text
from execplan.views.charts.chart import AGE, BARS, Chart, Series
from execplan.views.charts.chart_data import PlanAge, TaskTimes
from execplan.views.charts.chart_svg import value_ticks
from tests.views.charts.test_chart_svg import BAR_CHART, CHARTS, EMPTY, LINE_CHART, ONE_DAY

pytest.importorskip("plotext")


@pytest.mark.parametrize("size", [(20, 8), (40, 10), (80, 18), (110, 30)])
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: f"{chart.name}-{len(chart.labels)}")
def test_drawing_fits_the_terminal(chart: Chart, size: tuple[int, int]) -> None:
    text = chart_text.draw(chart, *size, has_color=False)
    lines = text.splitlines()
    assert "\x1b" not in text
    assert len(lines) <= size[1]
    assert all([len(line) <= size[0] for line in lines[1:-1]])
    if not chart.is_empty:
        assert "\x1b[" in chart_text.draw(chart, *size, has_color=True)


def test_scale_and_labels() -> None:
    text = chart_text.draw(BAR_CHART, 80, 18, has_color=False)
    assert text.startswith("Results of runs per week (runs)\n")
    assert "2026-01-01" in text
    assert "█ completed  ▒ failed" in text
    assert "40┤" in text
    assert "20┤" in text
    assert chart_text.draw(EMPTY, 80, 18, has_color=False) == "Age of the open plans: no data"
    assert "3┤" in chart_text.draw(ONE_DAY, 80, 18, has_color=False)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotext", None)
    with pytest.raises(ExecplanError, match="plotext") as error:
        chart_text.draw(ONE_DAY, 80, 18, has_color=False)
    assert error.value.hint == installation.extra_hint("charts")


def test_more_series_than_characters() -> None:
    series = tuple([Series(f"state {number}", (number,) * 48, "gray") for number in range(1, 8)])
    lines = chart_text.draw(BAR_CHART._replace(series=series), 80, 18, has_color=False).splitlines()
    assert lines[-1].count("state") == 7
    assert any([line.startswith("25┤") for line in lines])


NARROW = Chart(
    AGE,
    "Age of the open plans",
    BARS,
    ("up to 1 week", "1-4 weeks", "longer"),
    (Series("active", (10, 3, 0), "green"), Series("draft", (10, 0, 1), "amber")),
    "plans",
    "age",
)


def test_horizontal_bars_have_labels_and_numbers() -> None:
    assert chart_text.draw(NARROW, 49, 10, has_color=False).splitlines() == [
        "Age of the open plans (plans)",
        "age           active  draft",
        "up to 1 week      10     10  ██████████▒▒▒▒▒▒▒▒▒▒",
        "1-4 weeks          3      0  ███",
        "longer             0      1  ▒",
        "█ active  ▒ draft",
    ]
    assert chart_text.draw(NARROW._replace(series=NARROW.series[:1]), 32, 10, has_color=False).splitlines() == [
        "Age of the open plans (plans)",
        "age           active",
        "up to 1 week      10  ██████████",
        "1-4 weeks          3  ███",
        "longer             0",
    ]


def test_narrow_horizontal_bars_have_totals() -> None:
    assert chart_text.draw(NARROW, 31, 6, has_color=False).splitlines()[1:] == [
        "age           plans",
        "up to 1 week     20  █████▒▒▒▒▒",
        "1-4 weeks         3  ██",
        "longer            1  ▒",
        "█ active  ▒ draft",
    ]
    assert "┌" in chart_text.draw(NARROW, 24, 10, has_color=False)
    assert "┌" in chart_text.draw(NARROW, 80, 5, has_color=False)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_bar_has_its_label_and_number(width: int) -> None:
    tasks = [TaskTimes("a", f"t{at}", 0, at * 86_400 + 60) for at in range(120)]
    plans = [PlanAge(state, f"20{year}-01-01") for state in ("active", "draft") for year in range(10, 26)]
    for chart in (chart_data.lead_time(tasks), chart_data.age(plans, "2025-01-08")):
        lines = chart_text.draw(chart, width, 18, has_color=False).splitlines()
        assert all([len(line) <= width for line in lines])
        assert [line.split("  ")[0] for line in lines[2 : 2 + len(chart.labels)]] == list(chart.labels)


def test_equal_lines_are_one() -> None:
    tasks, done = LINE_CHART.series
    chart = LINE_CHART._replace(series=(tasks, done, done._replace(name="done in git")))
    assert "• " not in chart_text.draw(chart, 80, 18, has_color=False)
    assert "⠒ done by $timestamp$, done in git" in chart_text.draw(chart, 80, 18, has_color=False)


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (1, [0, 1]),
        (5, [0, 1, 2, 3, 4, 5]),
        (6, [0, 2, 4, 6]),
        (24, [0, 5, 10, 15, 20]),
        (142, [0, 50, 100]),
        (9999, [0, 2000, 4000, 6000, 8000]),
    ],
)
def test_round_numbers(highest: int, ticks: list[int]) -> None:
    assert value_ticks(highest, 6) == ticks


def test_table() -> None:
    assert chart_text.format_values(BAR_CHART)[0] == ("week", "completed", "failed")
    assert chart_text.format_values(LINE_CHART)[:2] == [
        ("date", "tasks", "done by $timestamp$"),
        ("2026-01-01", "3", "1"),
    ]
