"""The user's own settings, `~/.config/execplan/config.toml`: the only ones that may name code to run."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.project.project_settings import has_content, read_settings_file

_FILE = os.path.join("execplan", "config.toml")


def path() -> str:
    """The file, whether it is there or not."""
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), _FILE)


def rules() -> tuple[str, ...]:
    """The files and entry points of rules that `lint.rules` names; raises ExecplanError."""
    lint = _tables()["lint"]
    unknown = [key for key in lint if key != "rules"]
    if unknown:
        raise _unknown_setting_error(f"lint.{unknown[0]}", "lint.rules")
    names = lint.get("rules", [])
    if not isinstance(names, list) or not all([isinstance(name, str) and name for name in names]):
        raise ExecplanError(
            "bad-setting",
            f"{path()}: lint.rules takes a list of files and entry points",
            exit=INPUT,
            hint='write: [lint] and below it rules = ["~/rules/ours.py"]',
        )
    return tuple(
        [
            os.path.join(os.path.dirname(path()), os.path.expanduser(name)) if is_rule_file(name) else name
            for name in names
        ]
    )


def execution() -> dict[str, object]:
    """The table `execution`, which may loosen the policy as well as tighten it; raises ExecplanError."""
    table = _tables()["execution"]
    if table:
        from execplan.project.policy_settings import check_execution_table

        check_execution_table(table, path(), may_loosen=True)
    return table


def enhancer() -> dict[str, object]:
    """The table `enhancer`, which names a program that may propose a better execution plan; raises ExecplanError."""
    return _tables()["enhancer"]


def _tables() -> dict[str, dict[str, object]]:
    """The tables of the file by their names, empty where there are none; raises ExecplanError."""
    tables: dict[str, dict[str, object]] = {"lint": {}, "execution": {}, "enhancer": {}}
    data = read_settings_file(path())
    if data is None or not has_content(data):
        return tables
    from execplan.project.project_settings import parse_table

    for name, value in (parse_table(data, path()) or {}).items():
        if name not in tables:
            raise _unknown_setting_error(name, "lint.rules, or the table execution or enhancer")
        if not isinstance(value, dict):
            raise ExecplanError("bad-setting", f"{path()}: {name} is no table", exit=INPUT, hint=f"write: [{name}]")
        tables[name] = value
    return tables


def _unknown_setting_error(name: str, expected: str) -> ExecplanError:
    from execplan.project.policy_settings import SETTING_NAMES

    message = f"{path()}: there is no setting {name}"
    hint = f"did you mean execution.{name}? Write [[execution.risk]] or, for other settings, [execution]"
    return ExecplanError(
        "unknown-setting", message, exit=INPUT, hint=hint if name in SETTING_NAMES else f"did you mean {expected}?"
    )


def is_rule_file(name: str) -> bool:
    """Whether rules are named by their file, and not by their entry point."""
    return name.endswith(".py") or "/" in name
