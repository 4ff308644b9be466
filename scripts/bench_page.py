"""The page docs/performance.md, written from the results of scripts/bench.py."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Sequence

from bench_tools import ROOT, Row, Table, describe_goal, format_value

PAGE = ROOT / "docs" / "performance.md"
_INTRODUCTION = """\
# Performance figures

`python scripts/bench.py --install --page` wrote this page: it installs execplan with pip from a checkout, runs each
command in turn with the tools that it is compared with, and takes the median. Compare ratios, not times, because times
depend on the machine. Real plans are copies of a collection of plans from public repositories, each made distinct.
[Performance](explanation/performance.md) explains how execplan reaches these figures.

Measured with Python {python} on {cores} processor cores ({system}).
"""
_SECTION = re.compile(r"<!-- ([a-z-]+) -->\n.*?(?=\n<!-- |\Z)", re.DOTALL)
"""A section of the page, after the comment with the key of its table."""


def write_page(tables: Sequence[Table]) -> None:
    """Write the page with these tables; the sections of other tables stay as they are."""
    old_page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    sections = {section[1]: section[0] for section in _SECTION.finditer(old_page)}
    sections |= {table.key: _format_table(table) for table in tables}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    introduction = _INTRODUCTION.format(python=platform.python_version(), cores=cores, system=platform.system())
    PAGE.write_text("\n".join([introduction, *sections.values()]), encoding="utf-8")


def _format_table(table: Table) -> str:
    """Return a section with a table, and the reasons of the rows that miss their goals."""
    lines = [f"<!-- {table.key} -->", f"## {table.title}", "", *_table_lines(table)]
    if reasons := [(row, why) for row in table.rows if (why := describe_goal(table, row)[1])]:
        lines += ["", "Missed goals:", "", *[f"- {row.name}: {why}" for row, why in reasons]]
    return "\n".join([*lines, ""])


def _table_lines(table: Table) -> Iterator[str]:
    has_goals = any([describe_goal(table, row)[0] for row in table.rows])
    head = ("", "measured", *(("goal",) if has_goals else ()), *table.columns)
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in table.rows:
        yield f"| {' | '.join(_cells(table, row, has_goals=has_goals))} |"


def _cells(table: Table, row: Row, *, has_goals: bool) -> list[str]:
    goal, why_missed = describe_goal(table, row)
    value = format_value(row.value, row.unit)
    goals = [f"{goal}, missed" if why_missed else goal] if has_goals else []
    return [row.name, value, *goals, *row.cells]
