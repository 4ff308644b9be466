"""Charts as SVG, drawn by matplotlib: the same bytes for the same chart, readable on light and dark pages."""

from __future__ import annotations

import io
import re
from functools import cache
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from execplan.charts.chart import LINES, RUNS
from execplan.charts.chart_ticks import bar_ticks, day_positions, day_ticks, value_ticks
from execplan.errors import ENVIRONMENT, ExecplanError

if TYPE_CHECKING:
    from execplan.charts.chart import Chart

_COLORS = {"blue": "#3b82d0", "green": "#2f9e58", "amber": "#c98a1b", "red": "#d0524d", "gray": "#8a929c"}
"""Colors that differ by at least 3:1 from white and from a dark background, as WCAG asks of graphics."""
_TEXT_COLOR = "#010203"
"""Color that is replaced by that of the text around the chart."""
_SIZE = (6.4, 2.8)
"""Width and height in inches, of 72 points each."""
_MARGINS = {"left": 0.1, "right": 0.97, "top": 0.88, "bottom": 0.17}
"""Edges of the axes, relative to the size; the left one is further in for large numbers."""
_DIGIT_WIDTH = 5.4 / (72 * _SIZE[0])
"""Width of a digit, relative to that of the chart."""
_UNIT_WIDTH = 22 / (72 * _SIZE[0])
"""Width of the label of the vertical axis with the spaces around it, relative to that of the chart."""
_MAX_TICKS = 6
"""Maximum number of days on the horizontal axis."""
_MAX_BAR_TICKS = 8
"""Number of bars up to which each has a label."""
_MAX_VALUES = 6
"""Maximum number of values on the vertical axis."""
_SIDE_MARGIN = 0.05
"""Space before the first and after the last day, relative to the time between them."""
_BAR_WIDTH = 0.75
"""Width of a bar relative to the distance between two."""
_STYLE = "svg.execplan-chart{color:#24292f}@media(prefers-color-scheme:dark){svg.execplan-chart{color:#d5dae0}}"
_FONT = "system-ui, sans-serif"
_PROLOG = re.compile(r"\A.*?<svg ", re.DOTALL)
_METADATA = re.compile(r" *<metadata>.*?</metadata>\n", re.DOTALL)
_FONT_FAMILY = "'DejaVu Sans'"
_SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "execplan",  # IDs don't depend on the time
    "font.family": ["DejaVu Sans"],  # contained in matplotlib, so sizes are the same everywhere
    "font.size": 8.5,
    "text.color": _TEXT_COLOR,
    "text.parse_math": False,
    "axes.edgecolor": _TEXT_COLOR,
    "axes.labelcolor": _TEXT_COLOR,
    "xtick.color": _TEXT_COLOR,
    "ytick.color": _TEXT_COLOR,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def is_available() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def require_library(library: str) -> None:
    """Raise ExecplanError unless a library of the extra `charts` is installed."""
    if find_spec(library) is None:
        hint = "install it: pip install 'execplan[charts]'"
        raise ExecplanError(
            "no-charts", f"{library}, which draws charts, is not installed", exit=ENVIRONMENT, hint=hint
        )


def draw(chart: Chart) -> str:
    """Return a chart as an SVG element, with its title and its description in words.

    It adapts to light and dark pages: in an HTML page by the color of the text, as an image by the user's preference.
    IDs in it begin with the chart's name, so that different charts can be in one page. Raises ExecplanError without
    matplotlib.
    """
    require_library("matplotlib")
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        axes = _axes("" if chart.is_empty else chart.form)
        try:
            if not chart.is_empty:
                (_draw_lines if chart.form == LINES else _draw_bars)(axes, chart)
            buffer = io.StringIO()
            axes.figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        finally:
            _remove_content(axes)
    return _finish(buffer.getvalue(), chart)


@cache
def _axes(form: str) -> Any:
    """Return the axes that all charts of a form are drawn on: making new ones takes as long as drawing a chart."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE)
    FigureCanvasSVG(figure)
    figure.subplots_adjust(**_MARGINS)
    axes = figure.add_subplot()
    if not form:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no data", ha="center", va="center")
    return axes


def _remove_content(axes: Any) -> None:
    """Remove the lines, the bars and the legend from axes; everything else is set for each chart."""
    for artist in [*axes.lines, *axes.patches, *filter(None, [axes.get_legend()])]:
        artist.remove()


def _draw_lines(axes: Any, chart: Chart) -> None:
    positions = day_positions(chart.labels)
    has_line = len(set(positions)) > 1  # a line needs two days; one day is shown as points
    for series in chart.drawn_series:
        style = "--" if series.is_dashed else "-"
        color = _COLORS[series.color]
        marker = "" if has_line else "x" if series.is_dashed else "o"
        axes.step(
            positions,
            series.values,
            style,
            where="post",
            linewidth=1.8,
            marker=marker,
            color=color,
            label=series.name,
        )
    margin = (positions[-1] - positions[0]) * _SIDE_MARGIN or 1
    axes.set_xlim(positions[0] - margin, positions[-1] + margin)
    _set_ticks(axes, day_ticks(chart.labels, _MAX_TICKS))
    _set_scale(axes, chart)


def _draw_bars(axes: Any, chart: Chart) -> None:
    """Draw each series as one path, which takes a fraction of the time of a shape for each bar."""
    from matplotlib.patches import Patch, PathPatch
    from matplotlib.path import Path

    half_width = _BAR_WIDTH / 2
    bottoms = [0] * len(chart.labels)
    handles = []
    for series in chart.series:
        color = _COLORS[series.color]
        bars = [
            (
                (at - half_width, low),
                (at - half_width, low + value),
                (at + half_width, low + value),
                (at + half_width, low),
            )
            for at, (low, value) in enumerate(zip(bottoms, series.values, strict=True))
            if value
        ]
        if bars:
            path = Path.make_compound_path(*[Path((*bar, bar[0]), closed=True) for bar in bars])
            axes.add_patch(PathPatch(path, facecolor=color, edgecolor="none"))
        handles.append(Patch(facecolor=color, label=series.name))
        bottoms = [bottom + value for bottom, value in zip(bottoms, series.values, strict=True)]
    axes.set_xlabel(chart.axis)
    axes.set_xlim(-0.7, len(chart.labels) - 0.3)
    _set_ticks(axes, bar_ticks(chart.labels, _MAX_TICKS if len(chart.labels) > _MAX_BAR_TICKS else _MAX_BAR_TICKS))
    _set_scale(axes, chart, handles)


def _set_ticks(axes: Any, ticks: list[tuple[int, str]]) -> None:
    positions, labels = zip(*ticks, strict=True)
    axes.set_xticks(positions, labels)


def _set_scale(axes: Any, chart: Chart, handles: list[Any] | None = None) -> None:
    """Set up the vertical axis and a legend with these handles or those of the lines.

    A single series needs no legend, unless it is the only result that runs had.
    """
    ticks = value_ticks(chart.highest, _MAX_VALUES)
    labels = [f"{tick:,}" for tick in ticks]
    axes.figure.subplots_adjust(left=max(_MARGINS["left"], _UNIT_WIDTH + _DIGIT_WIDTH * len(labels[-1])))
    axes.set_ylim(0, chart.highest * 1.06)
    axes.set_yticks(ticks, labels)
    axes.set_ylabel(chart.unit)
    axes.grid(visible=True, axis="y", color=_COLORS["gray"], alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    if len(chart.series) > 1 or chart.name == RUNS:
        axes.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=len(chart.drawn_series),
            frameon=False,
            borderaxespad=0.2,
        )


def _finish(source: str, chart: Chart) -> str:
    """Return matplotlib's SVG as an accessible element without prolog, metadata and fixed text color."""
    prefix = f"chart-{chart.name}"
    source = _METADATA.sub("", source)
    names = f'role="img" class="execplan-chart" aria-labelledby="{prefix}-title {prefix}-desc"'
    source = _PROLOG.sub(f"<svg {names} ", source, count=1)
    head = (
        f'<title id="{prefix}-title">{escape(chart.title)}</title>\n'
        f'<desc id="{prefix}-desc">{escape(chart.description)}</desc>\n<style>{_STYLE}</style>\n'
    )
    end = source.index(">") + 1
    source = f"{source[:end]}\n{head}{source[end:].lstrip()}"
    source = source.replace(_TEXT_COLOR, "currentColor")
    source = source.replace(_FONT_FAMILY, _FONT).replace(">*{", ">svg.execplan-chart *{")
    return re.sub(r'(\bid="|xlink:href="#|url\(#)(?!chart-)', rf"\1{prefix}-", source)
