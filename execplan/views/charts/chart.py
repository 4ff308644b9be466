"""Charts as data: what they show, apart from how they are drawn."""

from __future__ import annotations

from typing import Final

from execplan.core.named_tuple import NamedTuple

BURN_UP: Final = "burn-up"
WEEKLY: Final = "weekly"
LEAD_TIME: Final = "lead-time"
AGE: Final = "age"
RUNS: Final = "runs"
CHART_NAMES = {
    BURN_UP: "tasks in total and tasks done, day by day",
    WEEKLY: "tasks done per week",
    LEAD_TIME: "days from adding a task to checking it off",
    AGE: "age of the open plans",
    RUNS: "results of runs per week",
}
"""The charts, with what each one shows."""
LINES: Final = "lines"
BARS: Final = "bars"


class Series(NamedTuple):
    """A line, or one part of each bar."""

    name: str
    values: tuple[int, ...]
    """A value for each label of the chart."""
    color: str = "blue"
    """Name of the color in which it is drawn."""
    is_dashed: bool = False


class Chart(NamedTuple):
    """A chart with its data."""

    name: str
    """One of `CHART_NAMES`."""
    title: str
    form: str
    """`LINES`, where a value stays until the next one, or `BARS`, with the series on top of each other."""
    labels: tuple[str, ...]
    """Days in the form YYYY-MM-DD for lines; names of the bars otherwise."""
    series: tuple[Series, ...]
    unit: str
    """What the values count."""
    axis: str
    """What the labels are, as in `date`; it is the header of their column."""
    notes: tuple[str, ...] = ()
    """Sentences about what the chart can't show, such as contradictions in the data."""

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return not any([value for series in self.series for value in series.values])

    @property
    def highest(self) -> int:
        """Return the largest value of a line, or of a bar with all its parts."""
        if self.form == LINES:
            return max([value for series in self.series for value in series.values], default=0)
        return max([sum(values) for values in zip(*[series.values for series in self.series], strict=True)], default=0)

    @property
    def drawn_series(self) -> tuple[Series, ...]:
        """Return the series with different values; equal lines would cover each other, so their names are joined."""
        if self.form != LINES:
            return self.series
        series_by_values: dict[tuple[int, ...], Series] = {}
        for series in self.series:
            same = series_by_values.get(series.values)
            series_by_values[series.values] = (
                same._replace(name=f"{same.name}, {series.name}") if same is not None else series
            )
        return tuple(series_by_values.values())

    @property
    def description(self) -> str:
        """Return the chart in words, for people who can't see it."""
        if self.is_empty:
            return f"{self.title}: no data."
        span = f" from {self.labels[0]} to {self.labels[-1]}" if self.form == LINES and len(self.labels) > 1 else ""
        parts = [f"{series.name} {_describe_values(self, series)}" for series in self.series if any(series.values)]
        return " ".join([f"{self.title}{span}: {'; '.join(parts)}.", *self.notes])


def _describe_values(chart: Chart, series: Series) -> str:
    """Return the last value of a line, or the bars of a series that are not empty."""
    if chart.form == LINES:
        return str(series.values[-1])
    bars = [f"{label}: {value}" for label, value in zip(chart.labels, series.values, strict=True) if value]
    return ", ".join(bars)
