"""Charts as text: drawn by plotext for a terminal, and as a table of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.views.charts.chart import BARS, LINES, Chart
from execplan.views.charts.chart_svg import bar_ticks, day_positions, day_ticks, value_ticks

_COLORS = {"blue": "blue+", "green": "green", "amber": "orange", "red": "red+", "gray": "gray"}
_LINE_MARKERS = ("hd", "braille", "dot")
_LINE_SIGNS = "▀⠒•"
_BAR_MARKERS = "█▒░▓#"
"""Characters of the series of bars, which differ without colors, too."""
_MAX_Y_TICKS = 6
_GAP = "  "
"""Space between the columns of horizontal bars, and in legends."""
_MIN_BAR_COLUMNS = 10
"""Width of the longest horizontal bar below which only the total of each bar is shown as a number."""
_MIN_NARROW_BAR_COLUMNS = 4
"""Width of the longest horizontal bar below which bars are vertical."""


def draw(chart: Chart, width: int, height: int, *, has_color: bool) -> str:
    """Return a chart of this size in characters, with terminal colors if `has_color`.

    Bars are horizontal, with their numbers, if there is room for each; else they are vertical, with a scale.
    Raises ExecplanError without plotext.
    """
    try:
        import plotext
    except ModuleNotFoundError:
        message = "plotext, which draws charts, is not installed"
        raise ExecplanError("no-charts", message, hint=features.load(features.EXTRA_HINT)("charts")) from None

    if chart.is_empty:
        return f"{chart.title}: no data"
    if chart.form == BARS and (rows := _horizontal_bars(chart, width, height, has_color=has_color)):
        return "\n".join(rows)
    figure = plotext.figure
    figure.clear()
    figure.theme("simple" if has_color else "colorless")
    figure.plot_size(width, height - 2)  # two lines for title and legend
    signs = _series_signs(chart)
    markers = _LINE_MARKERS if chart.form == LINES else signs
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
    drawing = str(figure.build()).rstrip("\n")
    text = f"{chart.title} ({chart.unit})\n{drawing}\n{_legend(chart, has_color=has_color)}"
    return text if has_color else str(plotext.uncolorize(text))


def _series_signs(chart: Chart) -> list[str]:
    """Return the character of each series that is drawn; with many of them, some have the same."""
    signs = _LINE_SIGNS if chart.form == LINES else _BAR_MARKERS
    return [signs[at % len(signs)] for at in range(len(chart.drawn_series))]


def _legend(chart: Chart, *, has_color: bool) -> str:
    """Return a line with the character and the name of each series."""
    names = [
        f"{_paint(sign, series.color, has_color=has_color)} {series.name}"
        for sign, series in zip(_series_signs(chart), chart.drawn_series, strict=True)
    ]
    return _GAP.join(names)


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


def _horizontal_bars(chart: Chart, width: int, height: int, *, has_color: bool) -> list[str]:
    """Return lines with title, headers, a bar with its label and numbers in each, and the legend; empty if too large."""
    has_legend = len(chart.series) > 1
    totals = [sum(values) for values in zip(*[series.values for series in chart.series], strict=True)]
    columns = _align(format_values(chart))
    bar_columns = width - len(columns[0]) - len(_GAP)
    if bar_columns < _MIN_BAR_COLUMNS:
        columns = _align([(chart.axis, chart.unit), *zip(chart.labels, map(str, totals), strict=True)])
        bar_columns = width - len(columns[0]) - len(_GAP)
    if bar_columns < _MIN_NARROW_BAR_COLUMNS or 1 + len(columns) + has_legend > height:
        return []
    signs = _series_signs(chart)
    bars = [
        _bar(chart, [series.values[at] for series in chart.series], signs, bar_columns, has_color=has_color)
        for at in range(len(chart.labels))
    ]
    return [
        f"{chart.title} ({chart.unit})",
        columns[0],
        *[f"{column}{_GAP}{bar}".rstrip() for column, bar in zip(columns[1:], bars, strict=True)],
        *([_legend(chart, has_color=has_color)] if has_legend else []),
    ]


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines of the same length, with numbers at the right edge of their columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            [row[0].ljust(widths[0]), *[cell.rjust(size) for cell, size in zip(row[1:], widths[1:], strict=True)]]
        )
        for row in rows
    ]


def _bar(chart: Chart, values: Sequence[int], signs: Sequence[str], max_columns: int, *, has_color: bool) -> str:
    """Return a bar with a part for each value; one that is not empty has at least one character."""
    parts, total, start = [], 0, 0
    for series, value, sign in zip(chart.series, values, signs, strict=True):
        total += value
        end = -(-total * max_columns // chart.highest)
        if end > start:
            parts.append(_paint(sign * (end - start), series.color, has_color=has_color))
        start = end
    return "".join(parts)


def _paint(text: str, color: str, *, has_color: bool) -> str:
    """Return text in a color of charts if `has_color`."""
    import plotext

    return str(plotext.colorize(text, _COLORS[color])) if has_color else text


def format_values(chart: Chart) -> list[tuple[str, ...]]:
    """Return a row for each label with the value of each series, under a row of headers."""
    rows = [(chart.axis, *[series.name for series in chart.series])]
    columns = [series.values for series in chart.series]
    return [*rows, *[(label, *map(str, values)) for label, *values in zip(chart.labels, *columns, strict=True)]]
