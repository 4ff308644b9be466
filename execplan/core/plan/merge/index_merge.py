"""Three-way merge of plan indexes, row by row: rows of different plans never conflict."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.index_block import NO_PLANS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RULE_START = "| ---"
"""Start of the line between the head of a table and its rows."""


class MergedIndex(NamedTuple):
    """The lines of a merged index."""

    lines: list[str]
    contested: int
    """Number of plans whose rows both sides changed in different ways; one of the two rows is kept."""


class _IndexTable(NamedTuple):
    """The lines of an index: the head of its table, the rows by plan, and the lines after them."""

    head: tuple[str, ...]
    rows: dict[str, str]
    tail: tuple[str, ...]


def merge_index_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> MergedIndex:
    """Merge the lines between the markers of two indexes and their common ancestor.

    A row that only one side changed is taken from there. If both did, the row with the later date is kept: the index
    is computed from the plans, so writing it again corrects the row.
    """
    old, our_table, their_table = _parse(base), _parse(ours), _parse(theirs)
    rows: dict[str, str] = {}
    contested = 0
    for key in {**our_table.rows, **their_table.rows}:
        our_row, their_row, old_row = our_table.rows.get(key), their_table.rows.get(key), old.rows.get(key)
        if our_row == their_row or their_row == old_row:
            row = our_row
        elif our_row == old_row:
            row = their_row
        else:
            contested += 1
            row = max([side for side in (our_row, their_row) if side is not None], key=_recency)
        if row is not None:
            rows[key] = row
    main_table = next((table for table in (our_table, their_table) if bool(table.rows) == bool(rows)), None)
    if main_table is None:
        return MergedIndex([NO_PLANS, *our_table.tail], contested)
    return MergedIndex([*main_table.head, *[rows[key] for key in sorted(rows)], *main_table.tail], contested)


def _parse(lines: Sequence[str]) -> _IndexTable:
    rule_at = next((at for at, line in enumerate(lines) if line.startswith(_RULE_START)), None)
    if rule_at is None:
        return _IndexTable((), {}, tuple(lines))
    end = rule_at + 1
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    rows = {_row_key(row): row for row in lines[rule_at + 1 : end]}
    return _IndexTable(tuple(lines[: rule_at + 1]), rows, tuple(lines[end:]))


def _row_key(row: str) -> str:
    """Return the target of the first link in a row, which is the plan's file; the row itself without a link."""
    _, mark, rest = row.partition("](")
    return rest.partition(")")[0] if mark else row


def _recency(row: str) -> tuple[str, str]:
    """Return the date in a row, empty if it has none; then the row, so that the order of the sides doesn't matter."""
    dates = [cell.strip() for cell in row.split(" | ") if cell.strip()[:4].isdigit() and cell.strip()[4:5] == "-"]
    return dates[-1] if dates else "", row
