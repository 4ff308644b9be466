"""Tables for people: formatted by rich on a terminal, as aligned columns elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_text import mark_colors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import OverflowMethod
    from rich.text import Text

_MIN_WIDTH = 20
"""Minimum width of the last column and of the longest other one, whatever the terminal's width."""
_MIN_WIDTH_AFTER_NAMES = 4
"""Minimum width of the last column if the longest other one has the names of plans, which people copy."""
_PLAN_NAMES = ("id", "path")
"""Columns with names of plans."""
_BAR_WIDTH = 8
"""Width of a progress bar in columns."""
_MIN_WIDTH_WITH_BARS = 80
"""Minimum width of a terminal for progress bars in tables."""


class ProgressCell(NamedTuple):
    """A cell about progress, with a bar before its text on a terminal."""

    text: str
    done: int
    total: int


def format_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str | ProgressCell]],
    spare: Sequence[str] = (),
    *,
    wraps: bool = False,
) -> str:
    """Format rows as a table, in color on a terminal unless NO_COLOR is set.

    On a narrow terminal, the bars and the `spare` columns are dropped, in order. The last column is cut at the
    terminal's edge, or wrapped there with `wraps`.
    """
    texts = [[printable_line(cell if isinstance(cell, str) else cell.text) for cell in row] for row in rows]
    if sys.stdout.isatty():
        bars = {
            (row_at, column_at): cell
            for row_at, row in enumerate(rows)
            for column_at, cell in enumerate(row)
            if isinstance(cell, ProgressCell)
        }
        columns = _fit_columns(head, _with_bars(texts, bars), spare)
        if len(columns[0]) < len(head):
            columns = _fit_columns(head, _with_bars(texts, {}), spare)
        return _rich_table(*columns, wraps=wraps)
    widths = [max(len(row[at]) for row in texts) for at in range(len(head) - 1)]
    return "\n".join(["  ".join([*map(str.ljust, row, widths), row[-1]]) for row in texts])


def format_table_with_head(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table with the names of its columns also where other tables have none: in a pipe or a file.

    For columns of numbers, which mean nothing without their names.
    """
    return format_table(head, rows) if sys.stdout.isatty() else format_table(head, [head, *rows])


def format_grouped_table(
    head: Sequence[str],
    groups: Sequence[tuple[str, Sequence[Sequence[str | ProgressCell]]]],
    spare: Sequence[str] = (),
) -> str:
    """Format groups of rows, each with a title, as one table with the same widths in all groups."""
    from execplan.cli.output.terminal_layout import paint

    all_rows = [row for _, rows in groups for row in rows]
    lines = format_table(head, all_rows, spare).split("\n")
    has_head = sys.stdout.isatty()
    grouped_lines, lines = lines[:has_head], lines[has_head:]
    for title, rows in groups:
        grouped_lines += ["", paint(printable_line(title), "bold"), *lines[: len(rows)]]
        lines = lines[len(rows) :]
    return "\n".join(grouped_lines if has_head else grouped_lines[1:])


def _with_bars(texts: list[list[str]], bars: Mapping[tuple[int, int], ProgressCell]) -> list[list[Text]]:
    """Return the cells as texts of rich, with progress bars if the terminal has room for them."""
    from rich.text import Text

    from execplan.cli.output.terminal_layout import bar_parts, terminal_size

    cells = [[Text(text) for text in row] for row in texts]
    if terminal_size()[0] < _MIN_WIDTH_WITH_BARS:
        return cells
    for (row_at, column_at), cell in bars.items():
        full, empty = bar_parts(cell.done, cell.total, width=_BAR_WIDTH)
        bar = (full, "green"), (empty, "dim"), " " * (_BAR_WIDTH + 1 - len(full + empty))
        cells[row_at][column_at] = Text.assemble(*bar, texts[row_at][column_at])
    return cells


def _fit_columns(
    head: Sequence[str], rows: Sequence[Sequence[Text]], spare: Sequence[str]
) -> tuple[Sequence[str], Sequence[Sequence[Text]]]:
    """Return the columns that fit the terminal."""
    from rich.console import Console

    column_indexes = list(range(len(head)))
    widths = [max([len(head[at]), *[len(row[at]) for row in rows]]) for at in column_indexes]
    for name in spare:
        if sum([widths[at] + 2 for at in column_indexes[:-1]]) + _MIN_WIDTH > Console().width:
            column_indexes.remove(head.index(name))
    return [head[at] for at in column_indexes], [[row[at] for at in column_indexes] for row in rows]


def _rich_table(head: Sequence[str], rows: Sequence[Sequence[Text]], *, wraps: bool) -> str:
    """Format rows with rich; the last column ends at the edge, and the longest other one is cut if there is no room."""
    from rich.console import Console
    from rich.table import Table

    from execplan.cli.output.terminal_layout import COLUMN_STYLES

    console = Console(no_color="NO_COLOR" in os.environ, highlight=False)
    rich_table = Table(box=None, pad_edge=False, header_style="bold")
    widths = [max([len(head[at]), *[len(row[at]) for row in rows]]) for at in range(len(head) - 1)]
    longest = widths.index(max(widths))
    last_min_width = _MIN_WIDTH_AFTER_NAMES if head[longest] in _PLAN_NAMES else _MIN_WIDTH
    available_width = console.width - (sum(widths) - widths[longest]) - 2 * len(widths) - last_min_width
    widths[longest] = min(widths[longest], max(available_width, _MIN_WIDTH))
    for name, width in zip(head, widths, strict=False):
        rich_table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    last_width = max(console.width - sum(widths) - 2 * len(widths), 1)  # rich would shrink all columns
    overflow: OverflowMethod = "fold" if wraps else "ellipsis"
    rich_table.add_column(head[-1], no_wrap=not wraps, overflow=overflow, max_width=last_width)
    for row in rows:
        for name, cell in zip(head, row, strict=True):
            cell.stylize_before(COLUMN_STYLES.get(name, {}).get(cell.plain, ""))
        rich_table.add_row(*row)
    with console.capture() as captured:
        console.print(rich_table)
    return mark_colors(captured.get().rstrip("\n"))
