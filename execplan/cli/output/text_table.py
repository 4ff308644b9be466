"""Tables for people: with colors and cut to the width of a terminal, as aligned columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from execplan.cli.error_handler import printable_line

Cell = list[tuple[str, str]]
"""The parts of a cell, each with its style."""

_GAP = "  "
"""What separates two columns."""
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
        return _fitted_table(*columns, wraps=wraps)
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


def _with_bars(texts: list[list[str]], bars: Mapping[tuple[int, int], ProgressCell]) -> list[list[Cell]]:
    """Return the cells with progress bars, if the terminal has room for them."""
    from execplan.cli.output.terminal_layout import bar_parts, terminal_size

    cells: list[list[Cell]] = [[[(text, "")] for text in row] for row in texts]
    if terminal_size()[0] < _MIN_WIDTH_WITH_BARS:
        return cells
    for (row_at, column_at), cell in bars.items():
        full, empty = bar_parts(cell.done, cell.total, width=_BAR_WIDTH)
        bar = [(full, "green"), (empty, "dim"), (" " * (_BAR_WIDTH + 1 - len(full + empty)), "")]
        cells[row_at][column_at] = [*bar, (texts[row_at][column_at], "")]
    return cells


def _cell_width(cell: Cell) -> int:
    from execplan.cli.output.text_width import text_width

    return sum([text_width(text) for text, _ in cell])


def _fit_columns(
    head: Sequence[str], rows: Sequence[Sequence[Cell]], spare: Sequence[str]
) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
    """Return the columns that fit the terminal."""
    from execplan.cli.output.terminal_layout import terminal_size

    column_indexes = list(range(len(head)))
    widths = [max([len(head[at]), *[_cell_width(row[at]) for row in rows]]) for at in column_indexes]
    for name in [name for name in spare if name in head]:
        if sum([widths[at] + 2 for at in column_indexes[:-1]]) + _MIN_WIDTH > terminal_size()[0]:
            column_indexes.remove(head.index(name))
    return [head[at] for at in column_indexes], [[row[at] for at in column_indexes] for row in rows]


def _fitted_table(head: Sequence[str], rows: Sequence[Sequence[Cell]], *, wraps: bool) -> str:
    """Format rows; the last column ends at the edge, and the longest other one is cut if there is no room."""
    from execplan.cli.output.terminal_layout import COLUMN_STYLES, terminal_size
    from execplan.cli.output.text_width import cut_segments

    width = terminal_size()[0]
    widths = [max([len(head[at]), *[_cell_width(row[at]) for row in rows]]) for at in range(len(head) - 1)]
    longest = widths.index(max(widths))
    last_min_width = _MIN_WIDTH_AFTER_NAMES if head[longest] in _PLAN_NAMES else _MIN_WIDTH
    available_width = width - (sum(widths) - widths[longest]) - len(_GAP) * len(widths) - last_min_width
    widths[longest] = min(widths[longest], max(available_width, _MIN_WIDTH))
    indent = sum(widths) + len(_GAP) * len(widths)
    last_width = max(width - indent, 1)
    lines = []
    for row in ([[(name, "bold")] for name in head], *rows):
        cells = [cut_segments(cell, column_width) for cell, column_width in zip(row, widths, strict=False)]
        texts = [_painted(cell, COLUMN_STYLES.get(name, {})) for name, cell in zip(head, cells, strict=False)]
        gaps = [
            " " * (column_width - _cell_width(cell)) + _GAP for cell, column_width in zip(cells, widths, strict=True)
        ]
        first = "".join([text + gap for text, gap in zip(texts, gaps, strict=True)])
        parts = [[part] for part in _wrap(row[-1], last_width)] if wraps else [cut_segments(row[-1], last_width)]
        last, *rest = [_painted(part, COLUMN_STYLES.get(head[-1], {})) for part in parts]
        lines += [(first + last).rstrip(), *[" " * indent + text for text in rest]]
    return "\n".join(lines)


def _painted(cell: Cell, styles: Mapping[str, str]) -> str:
    """Return a cell with its colors; the style of a plain one depends on its text."""
    from execplan.cli.output.terminal_layout import paint

    return "".join([paint(text, style or styles.get(text, "")) for text, style in cell])


def _wrap(cell: Cell, width: int) -> list[tuple[str, str]]:
    """Wrap a cell at a width, between words where possible."""
    from execplan.cli.output.text_width import cut_to_width, text_width

    lines, current = [], ""
    for word in cell[0][0].split(" "):
        candidate = f"{current} {word}" if current else word
        if current and text_width(candidate) > width:
            lines.append(current)
            candidate = word
        while text_width(candidate) > width and (part := cut_to_width(candidate, width)):
            lines.append(part)
            candidate = candidate.removeprefix(part)
        current = candidate
    return [(line, cell[0][1]) for line in (*lines, current)]
