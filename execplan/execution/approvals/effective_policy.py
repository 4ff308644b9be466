"""The policy in force for a project: the built-in defaults and the user's settings, tightened by the repository's."""

from __future__ import annotations

from execplan.core.project import user_settings
from execplan.execution.policy import Policy, tighten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.project.project import Project


def effective_policy(project: Project) -> Policy:
    """Return the policy in force for a project. Raises ExecplanError."""
    user_table, repository_table = user_settings.load_table("execution"), project.settings.execution
    if not (user_table or repository_table):
        return Policy()
    from execplan.execution.policy_settings import check_switches, check_user_table, policy_values

    check_user_table(user_table)
    policy = tighten(Policy()._replace(**policy_values(user_table)), policy_values(repository_table))
    checks_on = {**check_switches(user_table), **check_switches(repository_table)}
    policy = policy._replace(
        off=tuple(sorted([name for name, is_on in checks_on.items() if not is_on])),
        notify=str(user_table.get("notify", "")),
    )
    risk_table = None
    for rows, may_lower in ((user_table.get("risk", ()), True), (repository_table.get("risk", ()), False)):
        if isinstance(rows, list) and rows:
            from execplan.execution.risk import command_risk

            risk_table = command_risk.extend_table(
                risk_table or command_risk.builtin_table(), rows, may_lower=may_lower
            )
    return policy._replace(table=risk_table)
