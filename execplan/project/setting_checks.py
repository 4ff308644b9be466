"""Checks of a repository's settings, and of what a repository may not set."""

from __future__ import annotations

from execplan import features
from execplan.errors import INPUT, ExecplanError
from execplan.project.setting_table import (
    DIRECTORY_SETTINGS,
    USER,
    Setting,
    check_table,
    load_settings_of,
    load_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def check_setting(name: str, value: object, source: str) -> None:
    """Raise ExecplanError for an invalid value of a setting."""
    _check_value(load_settings_of("")[name], value, source)


def check_settings(values: Mapping[str, object], source: str) -> dict[str, object]:
    """Return the values of a settings file, with tuples for lists. Raises ExecplanError for unknown and invalid ones."""
    settings = load_settings_of("")
    checked_values = {}
    for name, value in values.items():
        if name not in settings:
            raise _unknown_setting_error(name, tuple(settings), source)
        is_list = isinstance(value, list) and all([type(element) is str for element in value])
        checked_values[name] = tuple(value) if is_list and isinstance(value, list) else value
        _check_value(settings[name], checked_values[name], source)
    return checked_values


def _check_value(setting: Setting, value: object, source: str) -> None:
    if problem := setting.shape.find_problem(value):
        hint = f"correct the value; {setting.name} means: {setting.about}"
        raise ExecplanError("bad-setting", f"{source}: {setting.name} {problem}", exit=INPUT, hint=hint)
    if isinstance(value, dict):
        _check_table_setting(setting.name, value, source)


def _check_table_setting(name: str, table: dict[str, object], source: str) -> None:
    """Raise ExecplanError for an invalid table."""
    if name != "directories":
        check = load_table(name).check_of_repository
        assert check is not None
        check(table, source)
        return
    for directory, values in table.items():
        check_setting("plans", directory, f"{source}: {name}")
        assert isinstance(values, dict)
        check_table("", values, f"{source}: {name}.{directory!r}", DIRECTORY_SETTINGS)


def _unknown_setting_error(name: str, known_names: tuple[str, ...], source: str) -> ExecplanError:
    from execplan.text.suggestions import did_you_mean

    if name in features.SETTING_TABLES:  # one that a repository's settings don't have
        reason = load_table(name).settings[0].user_only
        return ExecplanError(
            "loosened-policy",
            f"{source}: {name} {reason}, which a repository can't do",
            exit=INPUT,
            hint=f"remove it; put it in ~/.config/execplan/config.toml, under [{name}]",
        )
    if name in load_settings_of(USER):
        reason = load_settings_of(USER)[name].user_only
        hint = "remove it; put it at the start of ~/.config/execplan/config.toml"
        return ExecplanError(
            "loosened-policy", f"{source}: {name} {reason}, which a repository can't do", exit=INPUT, hint=hint
        )
    hint = did_you_mean(name, known_names) or f"one of {', '.join(known_names)}"
    if name in load_settings_of("execution"):
        hint = f"did you mean execution.{name}?"
    return ExecplanError("unknown-setting", f"{source}: unknown setting {name}", exit=INPUT, hint=hint)
