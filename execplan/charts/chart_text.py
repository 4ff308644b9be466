"""Charts as text: drawn by plotext for a terminal, and as a table of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.charts.chart import LINES
from execplan.charts.chart_svg import require_library
from execplan.charts.chart_ticks import bar_ticks, day_positions, day_ticks, value_ticks

if TYPE_CHECKING:
    from execplan.charts.chart import Chart

_COLORS = {"blue": "blue+", "green": "green", "amber": "orange", "red": "red+", "gray": "gray"}
_LINE_MARKERS = ("hd", "braille", "dot")
_LINE_SIGNS = "▀⠒•"
_BAR_MARKERS = "█▒░▓#"
"""Characters of the series of bars, which differ without colors, too."""
_MAX_Y_TICKS = 6


def draw(chart: Chart, width: int, height: int, *, has_color: bool) -> str:
    """Return a chart of this size in characters, with terminal colors if `has_color`.

    Raises ExecplanError without plotext.
    """
    require_library("plotext")
    import plotext

    if chart.is_empty:
        return f"{chart.title}: no data"
    figure = plotext.figure
    figure.clear()
    figure.theme("simple" if has_color else "colorless")
    figure.plot_size(width, height - 2)  # two lines for title and legend
    markers = _LINE_MARKERS if chart.form == LINES else _BAR_MARKERS
    colored_markers = [
        plotext.marker(marker, _COLORS[series.color] if has_color else None)
        for marker, series in zip(markers, chart.drawn_series, strict=False)
    ]
    label_width = max([len(label) for label in chart.labels]) + 2
    max_ticks = max(2, (width - label_width // 2) // label_width)
    if chart.form == LINES:
        _draw_lines(figure, chart, colored_markers)
        ticks = day_ticks(chart.labels, max_ticks)
    else:
        heights = [list(series.values) for series in chart.series]
        figure.draw(figure.bar(list(range(len(chart.labels))), heights, stacked=True, marker=colored_markers))
        ticks = bar_ticks(chart.labels, max_ticks)
    figure.ruler("x").ticks(*[list(column) for column in zip(*ticks, strict=True)])
    _set_scale(figure, chart)
    signs = _LINE_SIGNS if chart.form == LINES else _BAR_MARKERS
    legend = [
        f"{plotext.colorize(sign, _COLORS[series.color]) if has_color else sign} {series.name}"
        for sign, series in zip(signs, chart.drawn_series, strict=False)
    ]
    drawing = str(figure.build()).rstrip("\n")
    text = f"{chart.title} ({chart.unit})\n{drawing}\n{'   '.join(legend)}"
    return text if has_color else str(plotext.uncolorize(text))


def _draw_lines(figure: Any, chart: Chart, markers: list[Any]) -> None:
    """Draw steps: a value stays until the day of the next one."""
    positions = day_positions(chart.labels)
    for series, marker in zip(chart.drawn_series, markers, strict=True):
        days = [day for position in positions for day in (position, position)][1:]
        values = [value for amount in series.values for value in (amount, amount)][:-1]
        signal = figure.signal(days, values, marker=marker)
        signal.lines()
        figure.draw(signal)


def _set_scale(figure: Any, chart: Chart) -> None:
    """Label whole numbers from 0 to the largest value."""
    highest = chart.highest
    ticks = value_ticks(highest, _MAX_Y_TICKS)
    figure.ruler("y").lim(0, highest)
    figure.ruler("y").ticks(ticks, [f"{tick:,}" for tick in ticks])


def format_values(chart: Chart) -> list[tuple[str, ...]]:
    """Return a row for each label with the value of each series, under a row of headers."""
    rows = [(chart.axis, *[series.name for series in chart.series])]
    columns = [series.values for series in chart.series]
    return [*rows, *[(label, *map(str, values)) for label, *values in zip(chart.labels, *columns, strict=True)]]
