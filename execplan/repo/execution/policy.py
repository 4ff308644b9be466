"""The policy of a home: the built-in one, changed by the user's own settings, tightened by the repository's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution import policy as policies
from execplan.execution.policy import Policy
from execplan.repo.execution.terms import check_switches, policy_values

if TYPE_CHECKING:
    from execplan.repo.home import Project


def effective_policy(project: Project) -> Policy:
    """The policy that holds for a home; raises ExecplanError."""
    from execplan.execution.risk import rate as risk
    from execplan.repo import own

    user_settings, repository_settings = own.execution(), project.settings.execution
    policy = policies.tighten(Policy()._replace(**policy_values(user_settings)), policy_values(repository_settings))
    checks_on = {**check_switches(user_settings), **check_switches(repository_settings)}
    policy = policy._replace(
        off=tuple(sorted([name for name, is_on in checks_on.items() if not is_on])), notify=str(user_settings.get("notify", ""))
    )
    risk_table = risk.builtin_table()
    for rows, may_lower in ((user_settings.get("risk", ()), True), (repository_settings.get("risk", ()), False)):
        if isinstance(rows, list) and rows:
            risk_table = risk.extend_table(risk_table, rows, may_lower=may_lower)
    return policy._replace(table=risk_table)
