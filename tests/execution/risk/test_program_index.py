"""The index of rows by program leaves out no row that could match."""

from __future__ import annotations

from fnmatch import fnmatchcase

from execplan.execution.risk.program_index import rows_for_program
from execplan.execution.risk.risk_table import builtin_table, extend_table

TABLE = builtin_table()
NAMES = sorted({name for row in TABLE.rows for name in row.program})


def test_every_row_that_can_match_is_found_in_order() -> None:
    for known_name in [*NAMES, "nothing-known", "python3.12", "mkfs.ext4"]:
        for program in (known_name, f"/usr/bin/{known_name}", f"./tools/{known_name}"):
            names = (program, program.rpartition("/")[2])
            expected = [
                row
                for row in TABLE.rows
                if any([fnmatchcase(name, pattern) for pattern in row.program for name in names])
            ]
            rows = rows_for_program(program, TABLE)
            assert [row for row in rows if row in expected] == expected
            assert len(rows) < len(TABLE.rows) / 3


def test_another_table_has_its_own_rows() -> None:
    row = {"program": ["deploy-it"], "level": "CRITICAL", "reason": "deploys"}
    extended = extend_table(TABLE, [row], may_lower=False)
    assert rows_for_program("deploy-it", extended)[-1].reason == "deploys"
    assert not [row for row in rows_for_program("deploy-it", TABLE) if "deploy-it" in row.program]
