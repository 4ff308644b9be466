"""The user's own settings in `~/.config/execplan/config.toml`, the only ones that may name code to run."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.project.project_settings import has_content, read_settings_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILE = os.path.join("execplan", "config.toml")
_PROJECTS = "projects"
_AGENT_CHECKS = "agent_checks"


def path() -> str:
    """Return the path of the settings file, whether it exists or not."""
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), _FILE)


def rules() -> tuple[str, ...]:
    """Return the rule files and entry points in `lint.rules`. Raises ExecplanError for invalid settings."""
    lint = _tables()["lint"]
    if not lint:
        return ()
    from execplan.core.project.setting_table import load_settings_of

    unknown = [key for key in lint if key != "rules"]
    if unknown:
        raise _unknown_setting_error(f"lint.{unknown[0]}", "lint.rules")
    names = lint["rules"]
    if problem := load_settings_of("lint")["rules"].shape.find_problem(names):
        hint = 'write [lint], and below it: rules = ["~/rules/ours.py"]'
        raise ExecplanError("bad-setting", f"{path()}: lint.rules {problem}", hint=hint)
    assert isinstance(names, list)
    return tuple(
        [
            os.path.join(os.path.dirname(path()), os.path.expanduser(name)) if is_rule_file(name) else name
            for name in names
        ]
    )


def load_table(name: str) -> dict[str, object]:
    """Return a table of the file, which its feature still has to check; empty if it is missing.

    Raises ExecplanError if the file is invalid.
    """
    return _tables()[name]


def projects() -> tuple[str, ...]:
    """Return the absolute paths of the projects to read with `--all-projects`. Raises ExecplanError if invalid."""
    names = _checked_value(_PROJECTS, 'write at the start of the file: projects = ["~/src/parser", "../other"]')
    return tuple([os.path.normpath(_absolute(name)) for name in names or ()])


def agent_checks(root: str) -> tuple[str, ...]:
    """Return the commands that agents may always run in the repository at a real path. Raises ExecplanError if invalid."""
    table = _checked_value(_AGENT_CHECKS, 'write [agent_checks], and below it: "~/src/parser" = ["make test"]')
    repositories = [(os.path.realpath(_absolute(name)), commands) for name, commands in (table or {}).items()]
    return tuple([command for repository, commands in repositories if repository == root for command in commands])


def _checked_value(name: str, hint: str) -> Any:
    """Return the value of a setting outside of the tables, or None. Raises ExecplanError with the hint if it is invalid."""
    if not (value := _load().get(name)):
        return None
    from execplan.core.project.setting_table import USER, load_settings_of

    if problem := load_settings_of(USER)[name].shape.find_problem(value):
        raise ExecplanError("bad-setting", f"{path()}: {name} {problem}", hint=hint)
    return value


def _absolute(name: str) -> str:
    """Return the absolute path of a directory that is relative to that of the file, or begins with `~`."""
    return os.path.join(os.path.dirname(path()), os.path.expanduser(name))


def _load() -> dict[str, object]:
    """Return the content of the file; empty if it is missing. Raises ExecplanError for invalid TOML."""
    data = read_settings_file(path())
    if data is None or not has_content(data):
        return {}
    from execplan.core.project.project_settings import parse_table

    return parse_table(data, path()) or {}


def _tables() -> dict[str, dict[str, object]]:
    """Return the tables of the file by name; empty tables if they are missing.

    Raises ExecplanError for invalid settings.
    """
    tables: dict[str, dict[str, object]] = {"lint": {}, "execution": {}, "enhancer": {}, "drafting": {}}
    for name, value in _load().items():
        if name in (_PROJECTS, _AGENT_CHECKS):
            continue
        if name not in tables:
            raise _unknown_setting_error(
                name, "lint.rules, projects, or the table agent_checks, execution, enhancer or drafting"
            )
        if not isinstance(value, dict):
            raise ExecplanError("bad-setting", f"{path()}: {name} is not a table", hint=f"write: [{name}]")
        tables[name] = value
    return tables


def _unknown_setting_error(name: str, expected: str) -> ExecplanError:
    from execplan.core.project.setting_table import load_settings_of

    message = f"{path()}: unknown setting {name}"
    hint = f"did you mean execution.{name}? Write [[execution.risk]] or, for other settings, [execution]"
    if name not in load_settings_of("execution"):
        hint = f"did you mean {expected}?"
    return ExecplanError("unknown-setting", message, hint=hint)


def is_rule_file(name: str) -> bool:
    """Return whether a name refers to a rule file rather than an entry point."""
    return name.endswith(".py") or "/" in name
