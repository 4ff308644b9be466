"""The `execution` table of the settings: its valid values and the policy that they define."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.errors import INPUT, ExecplanError
from execplan.execution.policy import ROLLBACK_CAUSES, Policy, is_looser
from execplan.project.setting_table import check_table, load_settings_of, unknown_setting_error

if TYPE_CHECKING:
    from typing import Any


_USER_SETTINGS_FILE = "~/.config/execplan/config.toml"


def policy_values(table: dict[str, object]) -> dict[str, Any]:
    """Return the policy values of a checked table, except for checks, risk rows and `notify`."""
    policy_fields: dict[str, Any] = {name: value for name, value in table.items() if name in Policy._fields}
    policy_fields.pop("notify", None)
    for name in ("environment", "tools"):
        if isinstance(names := table.get(name), list):
            policy_fields[name] = tuple(sorted(set(names)))
    if isinstance(causes := table.get("rollback_on"), list):
        policy_fields["rollback_on"] = tuple([cause for cause in ROLLBACK_CAUSES if cause in causes])
    return policy_fields


def check_switches(table: dict[str, object]) -> dict[str, bool]:
    """Return the checks that a checked table names, and whether each is on."""
    switches = table.get("checks", {})
    return switches if isinstance(switches, dict) else {}


def check_execution_table(table: dict[str, object], location: str, *, may_loosen: bool) -> None:
    """Raise ExecplanError for an invalid `execution` table, or one that loosens the policy without permission."""
    check_table("execution", table, f"{location}: execution")
    if switches := check_switches(table):
        from execplan.execution.evaluation.checks.all_checks import CHECKS

        for name in switches:
            if name not in CHECKS:
                raise unknown_setting_error("execution", name, tuple(CHECKS), f"{location}: execution.checks")
    if isinstance(rows := table.get("risk"), list):
        from execplan.execution.risk import command_risk

        command_risk.extend_table(command_risk.builtin_table(), rows, may_lower=may_loosen)
    if not may_loosen:
        _ensure_not_looser(table, location)


def _ensure_not_looser(table: dict[str, object], location: str) -> None:
    """Raise ExecplanError for settings that a repository may not make."""
    settings = load_settings_of("execution")
    shared_values = {name: value for name, value in policy_values(table).items() if not settings[name].user_only}
    looser_settings = [f"{name} = {table[name]!r}" for name, value in shared_values.items() if is_looser(name, value)]
    looser_settings += [f"checks.{name} = false" for name, is_on in check_switches(table).items() if not is_on]
    looser_settings += [f"{name} {settings[name].user_only}" for name in table if settings[name].user_only]
    if looser_settings:
        raise ExecplanError(
            "loosened-policy",
            f"{location}: a repository can only tighten the policy, but execution.{', execution.'.join(looser_settings)}",
            exit=INPUT,
            hint=f"remove it; only your own settings can loosen the policy: {_USER_SETTINGS_FILE}, under [execution]",
        )
