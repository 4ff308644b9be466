"""Charts as SVG: the same bytes for the same chart, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from html import escape
from typing import Final, NamedTuple

from execplan.views.charts.chart import LINES, RUNS, Chart, Series

_COLORS: Final = {"blue": "#3b82d0", "green": "#2f9e58", "amber": "#c98a1b", "red": "#d0524d", "gray": "#8a929c"}
"""Colors that differ by at least 3:1 from white and from a dark background, as WCAG asks of graphics."""
_WIDTH, _HEIGHT = 460, 200
"""Size in points, which all coordinates are."""
_RIGHT, _TOP, _BOTTOM = 446, 24, 166
"""Edges of the plot. The left one leaves room for the numbers of the vertical axis."""
_UNIT_POSITION = 14
"""Baseline of the unit, which is turned."""
_DIGIT_WIDTH = 5.4
_GAP = 5
"""Space between an axis and its numbers, and between the unit and these."""
_MAX_TICKS = 6
"""Maximum number of days on the horizontal axis."""
_MAX_BAR_TICKS = 8
"""Number of bars up to which each has a label."""
_MAX_VALUES = 6
"""Maximum number of values on the vertical axis."""
_SIDE_MARGIN = 0.05
"""Space before the first and after the last day, relative to the time between them."""
_TOP_MARGIN = 1.06
"""Height of the vertical axis, relative to the highest value."""
_HALF_BAR = 0.375
"""Half of a bar's width, relative to the distance between two."""
_STYLE = "svg.execplan-chart{color:#24292f}@media(prefers-color-scheme:dark){svg.execplan-chart{color:#d5dae0}}"


def day_positions(days: tuple[str, ...]) -> list[int]:
    """Return the days between the first and each of some days."""
    first = date.fromisoformat(days[0])
    return [(date.fromisoformat(day) - first).days for day in days]


def day_ticks(days: tuple[str, ...], max_count: int) -> list[tuple[int, str]]:
    """Return positions of evenly distributed days, with their labels: the first day, the last, and some between."""
    span = day_positions(days)[-1]
    count = max(1, min(max_count - 1, span))
    first = date.fromisoformat(days[0])
    positions = sorted({span * at // count for at in range(count + 1)})
    return [(position, (first + timedelta(days=position)).isoformat()) for position in positions]


def bar_ticks(labels: tuple[str, ...], max_count: int) -> list[tuple[int, str]]:
    """Return the positions of every bar, or of every second, third … one, with their labels."""
    step = max(1, -(-len(labels) // max_count))
    return [(position, labels[position]) for position in range(0, len(labels), step)]


def value_ticks(highest: int, max_count: int) -> list[int]:
    """Return round numbers from 0 up to the highest value: multiples of 1, 2 or 5 times a power of ten."""
    step = 1
    while highest // step > max_count - 1:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return list(range(0, highest + 1, step))


class _Scale(NamedTuple):
    """An axis: its first and last value, and the coordinates of these."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> str:
        """Return the coordinate of a value."""
        return _number(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start))


def draw(chart: Chart) -> str:
    """Return a chart as an SVG element, with its title and its description in words.

    It adapts to light and dark pages: in an HTML page by the color of the text, as an image by the user's preference.
    IDs in it begin with the chart's name, so that different charts can be in one page.
    """
    prefix = f"chart-{chart.name}"
    lines = [_text("no data", _WIDTH / 2, _HEIGHT / 2)] if chart.is_empty else [*_draw_axes(chart)]
    start = (
        f'<svg role="img" class="execplan-chart" aria-labelledby="{prefix}-title {prefix}-desc"'
        f' xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}pt" height="{_HEIGHT}pt" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        ' fill="currentColor" font-family="system-ui, sans-serif" font-size="8.5">'
    )
    title = f'<title id="{prefix}-title">{escape(chart.title)}</title>'
    description = f'<desc id="{prefix}-desc">{escape(chart.description)}</desc>'
    return "\n".join([start, title, description, f"<style>{_STYLE}</style>", *lines, "</svg>\n"])


def _draw_axes(chart: Chart) -> Iterator[str]:
    values = [(value, f"{value:,}") for value in value_ticks(chart.highest, _MAX_VALUES)]
    left = _UNIT_POSITION + 2 * _GAP + _DIGIT_WIDTH * len(values[-1][1])
    y = _Scale(0, chart.highest * _TOP_MARGIN, _BOTTOM, _TOP)
    for value, label in values:
        yield f'<path d="M{_number(left)} {y.place(value)}H{_RIGHT}" stroke="{_COLORS["gray"]}" stroke-opacity=".3" />'
        yield _text(label, left - _GAP, float(y.place(value)) + 3, "end")
    yield (
        f'<text transform="translate({_UNIT_POSITION} {_number((_TOP + _BOTTOM) / 2)}) rotate(-90)"'
        f' text-anchor="middle">{escape(chart.unit)}</text>'
    )
    if chart.form == LINES:
        positions = day_positions(chart.labels)
        margin = (positions[-1] - positions[0]) * _SIDE_MARGIN or 1
        x = _Scale(positions[0] - margin, positions[-1] + margin, left, _RIGHT)
        ticks = day_ticks(chart.labels, _MAX_TICKS)
        yield from _draw_lines(chart, positions, x, y)
    else:
        x = _Scale(-0.7, len(chart.labels) - 0.3, left, _RIGHT)
        ticks = bar_ticks(chart.labels, _MAX_TICKS if len(chart.labels) > _MAX_BAR_TICKS else _MAX_BAR_TICKS)
        yield from _draw_bars(chart, x, y)
        yield _text(chart.axis, (left + _RIGHT) / 2, _BOTTOM + 27)
    yield f'<path d="M{_number(left)} {_TOP}V{_BOTTOM}H{_RIGHT}" fill="none" stroke="currentColor" stroke-width=".8" />'
    for position, label in ticks:
        yield _text(label, float(x.place(position)), _BOTTOM + 13)
    if len(chart.series) > 1 or chart.name == RUNS:  # otherwise the title says what is drawn
        names = [_legend_name(chart, series) for series in chart.drawn_series]
        yield f'<text x="{_number(left)}" y="{_TOP - 8}">{"".join(names)}</text>'


def _draw_lines(chart: Chart, positions: list[int], x: _Scale, y: _Scale) -> Iterator[str]:
    """Draw lines in steps; a line needs two days, so one day is shown as a point."""
    for series in chart.drawn_series:
        color = _COLORS[series.color]
        (at, value), *later_points = [
            (x.place(position), y.place(value)) for position, value in zip(positions, series.values, strict=True)
        ]
        if positions[0] == positions[-1]:
            yield f'<circle cx="{at}" cy="{value}" r="3" fill="{color}" />'
            continue
        dashes = ' stroke-dasharray="6 3"' if series.is_dashed else ""
        path = f"M{at} {value}" + "".join([f"H{place}V{height}" for place, height in later_points])
        yield f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.8" stroke-linejoin="round"{dashes} />'


def _draw_bars(chart: Chart, x: _Scale, y: _Scale) -> Iterator[str]:
    """Draw each series as one path, on top of the series before it."""
    bottoms = [0] * len(chart.labels)
    for series in chart.series:
        tops = [bottom + value for bottom, value in zip(bottoms, series.values, strict=True)]
        bars = [
            f"M{x.place(at - _HALF_BAR)} {y.place(bottom)}V{y.place(top)}H{x.place(at + _HALF_BAR)}V{y.place(bottom)}z"
            for at, (bottom, top) in enumerate(zip(bottoms, tops, strict=True))
            if top > bottom
        ]
        yield f'<path d="{"".join(bars)}" fill="{_COLORS[series.color]}" />'
        bottoms = tops


def _legend_name(chart: Chart, series: Series) -> str:
    sign = "\N{BLACK SQUARE}"
    if chart.form == LINES:
        sign = "- -" if series.is_dashed else "\N{EM DASH}"
    return (
        f'<tspan fill="{_COLORS[series.color]}" font-weight="bold">{sign}</tspan>'
        f'<tspan dx="4">{escape(series.name)}</tspan><tspan dx="10"> </tspan>'
    )


def _text(text: str, x: float, y: float, anchor: str = "middle") -> str:
    return f'<text x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}">{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
