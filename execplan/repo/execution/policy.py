"""The policy of a home: the built-in one, changed by the user's own settings, tightened by the repository's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution import policy as policies
from execplan.execution.policy import Policy
from execplan.repo.execution.terms import checks, values

if TYPE_CHECKING:
    from execplan.repo.home import Project


def effective(home: Project) -> Policy:
    """The policy that holds for a home; raises ExecplanError."""
    from execplan.execution.risk import rate as risk
    from execplan.repo import own

    mine, ours = own.execution(), home.settings.execution
    policy = policies.tighten(Policy()._replace(**values(mine)), values(ours))
    off = {**checks(mine), **checks(ours)}
    policy = policy._replace(
        off=tuple(sorted([name for name, on in off.items() if not on])), notify=str(mine.get("notify", ""))
    )
    table = risk.builtin_table()
    for rows, may_lower in ((mine.get("risk", ()), True), (ours.get("risk", ()), False)):
        if isinstance(rows, list) and rows:
            table = risk.extend_table(table, rows, may_lower=may_lower)
    return policy._replace(table=table)
