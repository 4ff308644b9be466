"""The policy in force for a project: the built-in defaults and the user's settings, tightened by the repository's."""

from __future__ import annotations

from execplan.core import features
from execplan.core.project import user_settings
from execplan.execution.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.core.project.project import Project


def effective_policy(project: Project) -> Policy:
    """Return the policy in force for a project. Raises ExecplanError."""
    user_table, repository_table = user_settings.load_table("execution"), project.settings.execution
    policy = Policy()
    if user_table or repository_table:
        policy = features.load(features.POLICY_TABLES)(user_table, repository_table)
    if project.settings.approval:
        policy = policy._replace(**approver_policy(project.settings.approval, "approval"))
    return policy


def repository_policy(project: Project) -> Policy:
    """Return the policy of the repository's settings alone, which every checkout has. Raises ExecplanError."""
    table = project.settings.execution
    policy: Policy = features.load(features.POLICY_TABLES)({}, table) if table else Policy()
    return policy


def approver_policy(table: dict[str, object], source: str) -> dict[str, Any]:
    """Return the policy values of an `approval` table of a repository's settings. Raises ExecplanError."""
    from execplan.core.project.setting_table import load_table

    parse: Any = load_table("approval").check_of_repository
    values: dict[str, Any] = parse(table, source)
    return values
