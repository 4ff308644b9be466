"""SVG of charts: the same bytes every time, readable by people and programs, and nothing else in it."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from execplan.views.charts import chart_svg
from execplan.views.charts.chart import AGE, BARS, BURN_UP, LINES, RUNS, Chart, Series
from tests.conftest import Folder

LINE_CHART = Chart(
    BURN_UP,
    "Tasks in total and done",
    LINES,
    ("2026-01-01", "2026-01-05", "2026-03-02"),
    (Series("tasks", (3, 8, 12), "gray"), Series("done by $timestamp$", (1, 3, 9), "amber", is_dashed=True)),
    "tasks",
    "date",
    ("<script> & 3 of 4 differ.",),
)
BAR_CHART = Chart(
    RUNS,
    "Results of runs per week",
    BARS,
    tuple([f"2026-{month:02}-{day:02}" for month in range(1, 13) for day in (1, 8, 15, 22)]),
    (Series("completed", tuple(range(48)), "green"), Series("failed", (1,) * 48, "red")),
    "runs",
    "week",
)
EMPTY = Chart(
    AGE, "Age of the open plans", BARS, ("up to 1 week", "longer"), (Series("active", (0, 0)),), "plans", "age"
)
ONE_DAY = LINE_CHART._replace(labels=("2026-01-01",), series=(Series("tasks", (3,)),))
CHARTS = [LINE_CHART, BAR_CHART, EMPTY, ONE_DAY]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: f"{chart.name}-{len(chart.labels)}")
def test_svg(chart: Chart) -> None:
    source = chart_svg.draw(chart)
    root = ET.fromstring(source)
    title, description = root[0], root[1]
    assert (title.tag, title.text) == (f"{SVG}title", chart.title)
    assert (description.tag, description.text) == (f"{SVG}desc", chart.description)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= set(
        "svg title desc style path circle text tspan".split()
    )
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all([name is not None and name.startswith(f"chart-{chart.name}-") for name in ids])
    texts = [element.text for element in root.iter() if element.tag in (f"{SVG}text", f"{SVG}tspan")]
    if chart.is_empty:
        assert texts == ["no data"]
    else:
        assert chart.labels[0] in texts
        assert chart.unit in texts
        assert (chart.axis in texts) == (chart.form == BARS)
        assert {series.name for series in chart.series} <= set(texts) or len(chart.series) == 1


def test_lines_keep_their_value_until_the_next_day() -> None:
    lines, dashes = re.findall(r'<path d="(.*?)" fill="none" stroke="#.*?>', chart_svg.draw(LINE_CHART))
    assert lines.count("H") == dashes.count("H") == 2


def test_bars_are_on_top_of_each_other() -> None:
    chart = EMPTY._replace(series=(Series("active", (2, 0), "blue"), Series("stalled", (1, 3), "amber")))
    first, second = re.findall(r'<path d="(.*?)" fill="#', chart_svg.draw(chart))
    assert first.count("z") == 1
    assert second.count("z") == 2
    assert re.findall("V([0-9.]+)H", first)[0] == re.findall("M[0-9.]+ ([0-9.]+)V", second)[0]


def test_a_single_result_of_runs_has_a_legend() -> None:
    chart = BAR_CHART._replace(series=BAR_CHART.series[:1])
    assert ">completed</tspan>" in chart_svg.draw(chart)
    assert ">active<" not in chart_svg.draw(EMPTY._replace(series=(Series("active", (1, 2)),)))


@pytest.mark.parametrize("highest", [9, 9_999, 10_000, 123_456_789])
def test_large_numbers_leave_room_for_the_unit(highest: int) -> None:
    """The letters of the unit, which is turned, are left of its baseline."""
    source = chart_svg.draw(LINE_CHART._replace(series=(Series("tasks", (0, 1, highest)),)))
    (baseline,) = re.findall(r"translate\(([0-9.]+) [^>]*>tasks<", source)
    numbers = [(float(end), text) for end, text in re.findall(r'x="([0-9.]+)"[^>]*="end">([0-9,]+)<', source)]
    assert 8.5 < float(baseline) < min([end - 5.4 * len(text) for end, text in numbers])


def test_files(repo: Folder) -> None:
    repo.plan()
    call = ["stats", "--chart", "age", "--svg", "age.svg"]
    assert repo.run(*call).out == "wrote age.svg\n"
    assert ET.parse(repo.path / "age.svg").getroot().tag == f"{SVG}svg"
    assert repo.run(*call).out == "age.svg is up to date\n"
    assert repo.run(*call, "-q").out == ""
    repo.write("age.svg", "<svg old/>")
    assert repo.ok(*call)["changed"] is True
    repo.write("age.svg", "Notes")
    result = repo.run(*call, "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "not-a-chart")
    assert (repo.path / "age.svg").read_text() == "Notes"
    assert repo.run("stats", "--chart", "age", "--svg", "missing/age.svg").exit == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["--svg", "a.svg"],
        ["--chart", "pie"],
        ["--chart", "age", "--format", "prometheus"],
        ["--chart", "age", "--textfile", "a.prom"],
    ],
)
def test_usage_errors(repo: Folder, arguments: list[str]) -> None:
    result = repo.run("stats", *arguments)
    assert result.exit == 2
    assert "hint:" in result.err


def test_svg_needs_no_library(repo: Folder) -> None:
    repo.plan()
    code = "import sys; sys.modules['plotext'] = None; from execplan.cli.main import run; sys.exit(run())"
    for arguments in ([], ["--json"], ["--svg", "a.svg"]):
        call = [sys.executable, "-c", code, "stats", "--chart", "age", *arguments]
        assert subprocess.run(call, cwd=repo.path, env=repo.env, check=False).returncode == 0


def test_one_day_is_a_point() -> None:
    assert "<circle " in chart_svg.draw(ONE_DAY)
    assert "<circle " not in chart_svg.draw(LINE_CHART)
