"""Tables for people: formatted by rich on a terminal, as aligned columns elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_text import mark_colors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import OverflowMethod

_MIN_WIDTH = 20
"""Minimum width of the last column and of the longest other one, whatever the terminal's width."""


def format_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str] = (), *, wraps: bool = False
) -> str:
    """Format rows as a table, in color on a terminal unless NO_COLOR is set.

    On a narrow terminal, the `spare` columns are dropped in order. The last column is cut at the terminal's edge, or
    wrapped there with `wraps`.
    """
    rows = [[printable_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        return _rich_table(*_fit_columns(head, rows, spare), wraps=wraps)
    widths = [max(len(row[at]) for row in rows) for at in range(len(head) - 1)]
    return "\n".join(["  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows])


def _fit_columns(
    head: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the columns that fit the terminal."""
    from rich.console import Console

    column_indexes = list(range(len(head)))
    widths = [max(len(row[at]) for row in [head, *rows]) for at in column_indexes]
    for name in spare:
        if sum([widths[at] + 2 for at in column_indexes[:-1]]) + _MIN_WIDTH > Console().width:
            column_indexes.remove(head.index(name))
    return [head[at] for at in column_indexes], [[row[at] for at in column_indexes] for row in rows]


def _rich_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, wraps: bool) -> str:
    """Format rows with rich; the last column ends at the edge, and the longest other one is cut if there is no room."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from execplan.cli.output.terminal_layout import COLUMN_STYLES

    console = Console(no_color="NO_COLOR" in os.environ, highlight=False)
    rich_table = Table(box=None, pad_edge=False, header_style="bold")
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head) - 1)]
    longest = widths.index(max(widths))
    available_width = console.width - (sum(widths) - widths[longest]) - 2 * len(widths) - _MIN_WIDTH
    widths[longest] = min(widths[longest], max(available_width, _MIN_WIDTH))
    for name, width in zip(head, widths, strict=False):
        rich_table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    last_width = max(console.width - sum(widths) - 2 * len(widths), 1)  # rich would shrink all columns
    overflow: OverflowMethod = "fold" if wraps else "ellipsis"
    rich_table.add_column(head[-1], no_wrap=not wraps, overflow=overflow, max_width=last_width)
    for row in rows:
        styles = [COLUMN_STYLES.get(name, {}).get(cell, "") for name, cell in zip(head, row, strict=True)]
        rich_table.add_row(*[Text(cell, style=style) for cell, style in zip(row, styles, strict=True)])
    with console.capture() as captured:
        console.print(rich_table)
    return mark_colors(captured.get().rstrip("\n"))
