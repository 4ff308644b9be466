"""Charts of a site: those of the whole project, and the progress of open plans, as SVG files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.team.history.history_event import HistoryEvent
from execplan.views.board.board_cards import STALLED, Board
from execplan.views.charts import chart_svg
from execplan.views.charts.chart import BURN_UP, CHART_NAMES, Chart
from execplan.views.charts.chart_sources import PlanSources, collect_sources, make_chart
from execplan.views.site.page_context import CHARTS_DIRECTORY, sibling_directory

MAX_PLAN_CHARTS: Final = 100
"""Maximum number of plans with a chart."""
_COLUMNS: Final = (ACTIVE, STALLED, DRAFT)
"""Columns whose plans have a chart, in the order of their priority."""


class ChartImage(NamedTuple):
    """A chart as a file of the site."""

    title: str
    target: str
    """Path of the file in the site."""
    description: str
    """The chart in words."""
    svg: str
    """Content of the file."""


def select_charted_plans(board: Board) -> set[str]:
    """Return the paths of the plans that have a chart: open ones with a done task, latest activity first."""
    cards = [card for name in _COLUMNS for column in board.columns if column.name == name for card in column.cards]
    paths = [card.path for card in cards if card.counts is not None and card.counts.done]
    return set(paths[:MAX_PLAN_CHARTS])


def draw_plan_chart(plan: PlanSources, events: Sequence[HistoryEvent] | None, page: str) -> ChartImage | None:
    """Draw the progress of a plan; None if there is nothing to draw. `events` is None without Git."""
    chart = make_chart(BURN_UP, collect_sources([plan], events))
    return _draw(chart, plan_chart_target(page)) if not chart.is_empty else None


def plan_chart_target(page: str) -> str:
    """Return the path of the chart of the plan that has a page."""
    name = page.rpartition("/")[2].removesuffix(".html")
    return f"{sibling_directory(page, CHARTS_DIRECTORY)}/plan-{name}.svg"


def draw_project_charts(plans: Sequence[PlanSources], events: Sequence[HistoryEvent] | None) -> list[ChartImage]:
    """Draw all charts of the plans of a project that have data; `events` is None without Git."""
    sources = collect_sources(plans, events)
    charts = [make_chart(name, sources) for name in CHART_NAMES]
    return [_draw(chart, f"{CHARTS_DIRECTORY}/{chart.name}.svg") for chart in charts if not chart.is_empty]


def _draw(chart: Chart, target: str) -> ChartImage:
    return ChartImage(chart.title, target, chart.description, chart_svg.draw(chart))
