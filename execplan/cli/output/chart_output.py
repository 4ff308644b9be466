"""Output of `stats --chart`: a drawing on a terminal, a table elsewhere, or an SVG file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execplan.cli.answer import Answer, json_fields
from execplan.cli.output.output_file import write_output_file, written_answer
from execplan.cli.output.terminal_layout import fit_lines, has_color, is_terminal, terminal_size
from execplan.cli.output.terminal_text import mark_colors
from execplan.cli.output.text_table import format_table
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.team.history.plan_history import incomplete_history_warnings
from execplan.views.charts import chart_sources, chart_svg, chart_text
from execplan.views.charts.chart import RUNS, Chart

_HEIGHT = 18
"""Lines of a drawing, less on a smaller terminal."""
_MIN_HEIGHT = 8
_MAX_WIDTH = 110
_MAX_SVG_BYTES = 1 << 22
_SVG_START = b"<svg "


def chart_answer(
    project: Project, plans: Sequence[tuple[Project, PlanRef]], name: str, svg: str | None, *, is_all: bool
) -> Answer:
    """Return the chart of plans as an answer, or write it to an SVG file.

    `is_all` says that the plans are all of their projects, so that history is read only once for each.
    """
    histories: list[tuple[Project, PlanRef | None]] = [*plans]
    if is_all:
        histories = [
            (member, None) for member in {plan_project.plans: plan_project for plan_project, _ in plans}.values()
        ]
    events = chart_sources.load_events(histories)
    sources = [chart_sources.read_plan_sources(plan_store.load(plan_project, ref)) for plan_project, ref in plans]
    chart = chart_sources.make_chart(name, chart_sources.collect_sources(sources, events))
    warnings = incomplete_history_warnings(project) if name != RUNS else ()
    if svg is not None:
        changed = _write_svg(project, svg, chart_svg.draw(chart))
        return written_answer(project, svg, chart_json(chart), warnings, changed=changed)
    return Answer(chart_json(chart), _format_chart(chart), warnings=warnings)


def chart_json(chart: Chart) -> dict[str, Any]:
    """Return a chart as JSON data."""
    return {
        "chart": chart.name,
        **json_fields(chart, "title unit axis labels"),
        "series": [json_fields(series, "name values") for series in chart.series],
        "notes": list(chart.notes),
    }


def _format_chart(chart: Chart) -> str:
    notes = fit_lines(*chart.notes)
    if is_terminal():
        columns, lines = terminal_size()
        size = min(columns, _MAX_WIDTH), max(min(_HEIGHT, lines - 3 - len(notes)), _MIN_HEIGHT)
        drawing = mark_colors(chart_text.draw(chart, *size, has_color=has_color()))
        return "\n".join([drawing, *notes])
    rows = chart_text.format_values(chart)
    return "\n".join([format_table(rows[0], rows) if not chart.is_empty else f"{chart.title}: no data", *notes])


def _write_svg(project: Project, file: str, source: str) -> bool:
    """Write an SVG file, and return whether it changed. Raises ExecplanError."""
    message = f"{file} contains something other than a chart, so it was not overwritten"
    error = ExecplanError("not-a-chart", message, hint="use another file, or remove it")
    return write_output_file(project, file, source.encode(), _SVG_START, error, _MAX_SVG_BYTES)
