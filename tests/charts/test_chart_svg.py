"""SVG of charts: the same bytes every time, readable by people and programs, and nothing else in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from execplan.charts import chart_svg
from execplan.charts.chart import AGE, BARS, BURN_UP, LINES, RUNS, Chart, Series
from execplan.errors import ExecplanError
from tests.conftest import Folder

pytest.importorskip("matplotlib")
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
        "svg title desc style defs g path use text clipPath rect".split()
    )
    assert "#010203" not in source
    assert "DejaVu" not in source
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all([name is not None and name.startswith(f"chart-{chart.name}-") for name in ids])
    texts = [element.text for element in root.iter(f"{SVG}text")]
    if chart.is_empty:
        assert texts == ["no data"]
    else:
        assert chart.labels[0] in texts
        assert chart.unit in texts
        assert (chart.axis in texts) == (chart.form == BARS)
        assert {series.name for series in chart.series} <= set(texts) or len(chart.series) == 1
    for element in root.iter(f"{SVG}use"):
        target = element.get("{http://www.w3.org/1999/xlink}href")
        assert target is not None
        assert target.removeprefix("#") in ids


def test_the_same_bytes_in_every_process_and_order() -> None:
    sources = [chart_svg.draw(chart) for chart in CHARTS]
    assert [chart_svg.draw(chart) for chart in reversed(CHARTS)] == sources[::-1]
    code = "from execplan.charts import chart_svg; from tests.charts.test_chart_svg import CHARTS; print(''.join(map(chart_svg.draw, CHARTS)), end='')"
    for seed in ("0", "1"):
        environment = {"PYTHONHASHSEED": seed, "TZ": f"UTC{seed}", "PATH": "", "LC_ALL": "C.UTF-8"}
        completed = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env=environment,
            capture_output=True,
            check=True,
        )
        assert completed.stdout.decode() == "".join(sources)


def test_a_single_result_of_runs_has_a_legend() -> None:
    chart = BAR_CHART._replace(series=BAR_CHART.series[:1])
    assert ">completed</text>" in chart_svg.draw(chart)
    assert ">active</text>" not in chart_svg.draw(EMPTY._replace(series=(Series("active", (1, 2)),)))


@pytest.mark.parametrize("highest", [9, 9_999, 10_000, 123_456_789])
def test_large_numbers_leave_room_for_the_label_of_the_axis(highest: int) -> None:
    """The place of the label, which is turned, is the baseline, and its letters of 8.5 points are left of it."""
    chart = LINE_CHART._replace(series=(Series("tasks", (0, 1, highest)),))
    (place,) = re.findall(r' x="([0-9.]+)"[^>]*>tasks<', chart_svg.draw(chart))
    assert 8.5 < float(place) < 30


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


def test_without_the_library(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.plan()
    code = "import sys; sys.modules.update(matplotlib=None, plotext=None); from execplan.cli.main import run; sys.exit(run())"
    call = [sys.executable, "-c", code, "stats", "--chart", "age"]
    for arguments, status in (([], 0), (["--json"], 0), (["--svg", "a.svg", "--json"], 6)):
        completed = subprocess.run([*call, *arguments], cwd=repo.path, env=repo.env, capture_output=True, check=False)
        assert completed.returncode == status, completed.stderr
    assert b"pip install 'execplan[charts]'" in completed.stdout
    assert b'"no-charts"' in completed.stdout
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not chart_svg.is_available()
    with pytest.raises(ExecplanError, match="matplotlib"):
        chart_svg.draw(EMPTY)


def test_one_day_is_a_point() -> None:
    assert 'style="fill: #3b82d0; stroke: #3b82d0"' in chart_svg.draw(ONE_DAY)
    assert 'style="fill: #8a929c' not in chart_svg.draw(LINE_CHART)


def test_a_chart_does_not_depend_on_the_charts_before_it() -> None:
    first = [chart_svg.draw(chart) for chart in CHARTS]
    assert [chart_svg.draw(chart) for chart in reversed(CHARTS)] == first[::-1]
    chart_svg._axes.cache_clear()
    assert [chart_svg.draw(chart) for chart in reversed(CHARTS)] == first[::-1]
