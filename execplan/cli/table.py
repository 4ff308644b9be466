"""Rows for people: a table on a terminal, aligned columns elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from execplan.cli.door import shown
from execplan.cli.printing import coloured

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLES = {"broken": "bold red", "active": "green", "draft": "yellow", "complete": "cyan", "archived": "dim"}

_LEAST = 20
"""Columns that the last one has, and the longest other, whatever the terminal."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str] = ()) -> str:
    """The rows as text; with colours where a terminal shows them and NO_COLOR is not set.

    Where a terminal is too narrow it goes without the columns that can be spared, the first one first.
    """
    rows = [[shown(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        return _rich(*_fitting(head, rows, spare))
    widths = [max(len(row[at]) for row in rows) for at in range(len(head) - 1)]
    return "\n".join(["  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows])


def _fitting(
    head: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The columns that a terminal has room for."""
    from rich.console import Console

    kept = list(range(len(head)))
    widths = [max(len(row[at]) for row in [head, *rows]) for at in kept]
    for name in spare:
        if sum([widths[at] + 2 for at in kept[:-1]]) + _LEAST > Console().width:
            kept.remove(head.index(name))
    return [head[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _rich(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows as rich draws them; the last column is cut at the edge, and the longest other where there is no room."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(no_color="NO_COLOR" in os.environ, highlight=False)
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head) - 1)]
    longest = widths.index(max(widths))
    room = console.width - (sum(widths) - widths[longest]) - 2 * len(widths) - _LEAST
    widths[longest] = min(widths[longest], max(room, _LEAST))
    for name, width in zip(head, widths, strict=False):
        drawn.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    rest = max(console.width - sum(widths) - 2 * len(widths), 1)  # rich would take from all of them
    drawn.add_column(head[-1], no_wrap=True, overflow="ellipsis", max_width=rest)
    for row in rows:
        drawn.add_row(Text(row[0], style=_STYLES.get(row[0], "")), *[Text(cell) for cell in row[1:]])
    with console.capture() as captured:
        console.print(drawn)
    return coloured(captured.get().rstrip("\n"))
