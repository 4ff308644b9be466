"""Rows of the risk table by program: of 340 rows, a command is compared with those that can match its program."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.risk.risk_table import RiskRow, RiskTable


class _ProgramIndex(NamedTuple):
    """The rows of a table that name programs."""

    table: RiskTable
    by_name: dict[str, list[int]]
    """Indexes of the rows with a program's exact name, ascending."""
    with_pattern: list[int]
    """Indexes of the rows with a pattern for the names of programs."""


_LAST_INDEX: list[_ProgramIndex] = []


def rows_for_program(program: str, table: RiskTable) -> list[RiskRow]:
    """Return the rows that can match a program, given by path or name, in the order of the table."""
    if not _LAST_INDEX or _LAST_INDEX[0].table is not table:
        _LAST_INDEX[:] = [_build_index(table)]
    index = _LAST_INDEX[0]
    names = {program, program.rpartition("/")[2]}
    indexes = {at for name in names for at in index.by_name.get(name, ())}.union(index.with_pattern)
    return [table.rows[at] for at in sorted(indexes)]


def _build_index(table: RiskTable) -> _ProgramIndex:
    by_name: dict[str, list[int]] = {}
    with_pattern = []
    for at, row in enumerate(table.rows):
        for name in row.program:
            by_name.setdefault(name, []).append(at)
        if row.program and "*" in "".join(row.program):
            with_pattern.append(at)
    return _ProgramIndex(table, by_name, with_pattern)
