"""The `execution` table of the settings: its valid values and the policy that they define."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.execution.attributes import LEVELS
from execplan.execution.permission import NEVER, READ_POLICIES
from execplan.execution.policy import CHANGED_PROGRAMS, PINS, ROLLBACK_CAUSES, SANDBOXES, is_looser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_USER_SETTINGS_FILE = "~/.config/execplan/config.toml"
_HINT = "what can be set: execplan explain policy"
_CHOICES = {
    "person_from": (*LEVELS, NEVER),
    "sandbox": SANDBOXES,
    "pin": PINS,
    "programs": CHANGED_PROGRAMS,
    "reads": READ_POLICIES,
}
_MAXIMUMS = {
    "steps": 1000,
    "files": 100_000,
    "megabytes": 100_000,
    "seconds": 604_800,
    "memory_mb": 1_000_000,
    "processes": 100_000,
    "file_mb": 1_000_000,
    "output_kb": 100_000,
    "checkpoint_interval": 1000,
    "backup_days": 3650,
}
"""Maximum of each number; the minimum is 1."""
_USER_ONLY = ("environment", "tools", "backup_days")
SETTING_NAMES = (*_CHOICES, *_MAXIMUMS, "rollback_on", "checks", "risk", "environment", "tools", "notify")
"""Names of the settings that an `execution` table may contain."""


def policy_values(table: dict[str, object]) -> dict[str, Any]:
    """Return the policy values of a checked table, except for checks, risk rows and `notify`."""
    policy_fields: dict[str, Any] = {name: table[name] for name in (*_CHOICES, *_MAXIMUMS) if name in table}
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
    for name, value in table.items():
        if name not in SETTING_NAMES:
            raise _unknown_setting_error(f"{location}: execution", name, SETTING_NAMES)
        problem = _value_problem(name, value, f"{location}: execution.{name}")
        if problem:
            raise ExecplanError(
                "bad-setting",
                f"{location}: execution.{name} {problem}, not {value!r}",
                exit=INPUT,
                hint=_HINT,
            )
        if name == "risk" and isinstance(value, list):
            from execplan.execution.risk import command_risk

            command_risk.extend_table(command_risk.builtin_table(), value, may_lower=may_loosen)
    if not may_loosen:
        _ensure_not_looser(table, location)


def _ensure_not_looser(table: dict[str, object], location: str) -> None:
    """Raise ExecplanError for settings that a repository may not make."""
    shared_values = {name: value for name, value in policy_values(table).items() if name not in _USER_ONLY}
    looser_settings = [f"{name} = {table[name]!r}" for name, value in shared_values.items() if is_looser(name, value)]
    looser_settings += [f"checks.{name} = false" for name, is_on in check_switches(table).items() if not is_on]
    looser_settings += ["environment names what commands get to see"] if "environment" in table else []
    looser_settings += ["tools names what an agent may do unplanned"] if "tools" in table else []
    looser_settings += ["notify names code to run"] if "notify" in table else []
    looser_settings += ["backup_days says when your backups are deleted"] if "backup_days" in table else []
    if looser_settings:
        raise ExecplanError(
            "loosened-policy",
            f"{location}: a repository may only tighten the policy, but execution.{', execution.'.join(looser_settings)}",
            exit=INPUT,
            hint=f"take it out; what is your own to loosen stands in {_USER_SETTINGS_FILE}, under [execution]",
        )


def _value_problem(name: str, value: object, location: str) -> str:
    """Return the problem with the value of a setting, or an empty string. Raises ExecplanError for an unknown check."""
    if name in _CHOICES:
        return "" if value in _CHOICES[name] else f"is {', '.join([repr(choice) for choice in _CHOICES[name]])}"
    if name in _MAXIMUMS:
        return (
            "" if type(value) is int and 0 < value <= _MAXIMUMS[name] else f"is a number from 1 to {_MAXIMUMS[name]:,}"
        )
    if name == "rollback_on":
        is_valid = isinstance(value, list) and all([cause in ROLLBACK_CAUSES for cause in value])
        return "" if is_valid else f"is a list of {', '.join(ROLLBACK_CAUSES)}"
    if name == "risk":
        is_valid = isinstance(value, list) and all([isinstance(row, dict) for row in value])
        return "" if is_valid else "is a list of tables"
    if name in ("environment", "tools"):
        kind, is_valid_name = ("variables", _is_variable) if name == "environment" else ("tools", _is_tool)
        return "" if isinstance(value, list) and all(map(is_valid_name, value)) else f"is a list of names of {kind}"
    if name == "notify":
        return "" if isinstance(value, str) and "\0" not in value else "is a command"
    if not isinstance(value, dict) or not all([type(switch) is bool for switch in value.values()]):
        return "is a table of checks, each true or false"
    from execplan.execution.evaluation.checks.all_checks import CHECKS

    for check_name in value:
        if check_name not in CHECKS:
            raise _unknown_setting_error(location, check_name, tuple(CHECKS))
    return ""


def _is_variable(name: object) -> bool:
    return isinstance(name, str) and name.isascii() and name.isidentifier()


def _is_tool(name: object) -> bool:
    return isinstance(name, str) and name.isprintable() and bool(name.strip(" *"))


def _unknown_setting_error(location: str, name: str, known_names: tuple[str, ...]) -> ExecplanError:
    from execplan.text.suggestions import did_you_mean

    hint = did_you_mean(name, known_names) or _HINT
    message = f"{location} knows {', '.join(known_names)}, not {name!r}"
    return ExecplanError("unknown-setting", message, exit=INPUT, hint=hint)
