"""The `approval` table of the settings: the kind of keys that sign, groups of people, and who must approve which steps."""

from __future__ import annotations

from typing import Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.project.setting_shapes import choice, list_of, table_of
from execplan.core.project.setting_table import Setting, SettingTable, check_table
from execplan.core.text.suggestions import did_you_mean
from execplan.execution.attributes import LEVELS
from execplan.execution.policy import SIGNATURES, SSH, ApproverRule

_MAX_APPROVERS: Final = 20
_HINT: Final = "see the settings: execplan explain signatures"


def parse_approval_settings(table: dict[str, object], source: str) -> dict[str, Any]:
    """Return the policy values of the table. Raises ExecplanError if it is invalid."""
    check_table("approval", table, f"{source}: approval")
    groups: Any = table.get("groups", {})
    rules: Any = table.get("rules", [])
    for number, rule in enumerate(rules, 1):
        _check_rule(rule, groups, f"{source}: approval.rules[{number}]")
    if rules and table.get("signatures") != SSH:
        message = (
            f"{source}: approval.rules needs signatures of people, and the key of a machine can't tell people apart"
        )
        hint = 'set signatures = "ssh" under [approval]: execplan explain signatures'
        raise ExecplanError("bad-setting", message, hint=hint)
    return {
        "signatures": table.get("signatures", SIGNATURES[0]),
        "groups": tuple(sorted([(name, tuple(sorted(set(members)))) for name, members in groups.items()])),
        "approval": tuple(sorted({_parse_rule(rule) for rule in rules})),
    }


def _check_rule(rule: dict[str, Any], groups: dict[str, Any], place: str) -> None:
    """Raise ExecplanError for a rule with a wrong value or an unknown group."""
    for name, value in rule.items():
        if name not in _RULE_PROBLEMS:
            message = f"{place} accepts only {', '.join(_RULE_PROBLEMS)}, not {name!r}"
            raise ExecplanError("unknown-setting", message, hint=did_you_mean(name, _RULE_PROBLEMS) or _HINT)
        if not _RULE_CHECKS[name](value):
            raise ExecplanError("bad-setting", f"{place}.{name} {_RULE_PROBLEMS[name]}, not {value!r}", hint=_HINT)
    for name in rule.get("required", ()):
        if name not in groups:
            hint = f'list its members under [approval.groups]: {name} = ["ann@example.com"]'
            raise ExecplanError("bad-setting", f"{place}.required names the unknown group {name!r}", hint=hint)


def _parse_rule(rule: dict[str, Any]) -> ApproverRule:
    return ApproverRule(
        rule.get("approvers", 1),
        tuple(sorted(set(rule.get("required", ())))),
        tuple(sorted(set(rule.get("paths", ())))),
        rule.get("level", LEVELS[0]),
    )


def _is_name_list(value: object) -> bool:
    return isinstance(value, list) and all([isinstance(name, str) and bool(name.strip()) for name in value])


_RULE_PROBLEMS: Final = {
    "approvers": f"must be a number from 1 to {_MAX_APPROVERS}",
    "required": "must be a list of groups",
    "paths": "must be a list of paths from the root of the repository, which may contain * and ?",
    "level": f"must be one of {', '.join(LEVELS)}",
}
_RULE_CHECKS: Final[dict[str, Any]] = {
    "approvers": lambda value: type(value) is int and 1 <= value <= _MAX_APPROVERS,
    "required": _is_name_list,
    "paths": lambda value: (
        _is_name_list(value) and not any([path.startswith("/") or ".." in path.split("/") for path in value])
    ),
    "level": lambda value: value in LEVELS,
}
_SETTINGS: Final = (
    Setting(
        "signatures",
        choice(SIGNATURES),
        "Which key signs approvals: the machine's, or the SSH key of each person.",
        SIGNATURES[0],
    ),
    Setting(
        "groups",
        table_of(
            "groups with lists of people", 'must be a table of lists: security = ["ann@example.com"]', _is_name_list
        ),
        "Groups of people, as `.agent/allowed_signers` names them.",
        {},
    ),
    Setting(
        "rules",
        list_of("tables", "must be a list of tables", lambda rule: isinstance(rule, dict)),
        "How many people, and of which groups, approve which steps: execplan explain signatures.",
        [],
    ),
)
TABLE: Final = SettingTable("Only in a repository's settings.", _SETTINGS, parse_approval_settings)
