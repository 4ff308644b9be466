"""Checks of a repository's settings, and of what a repository may not set."""

from __future__ import annotations

from execplan.core import features
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.project.setting_table import (
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


def check_settings(values: Mapping[str, object], source: str, data: bytes) -> dict[str, object]:
    """Return the values of a settings file, with tuples for lists. Raises ExecplanError for unknown and invalid ones.

    `data` is the content of the file.
    """
    settings = load_settings_of("")
    checked_values = {}
    for name, value in values.items():
        if name not in settings:
            raise _unknown_setting_error(name, tuple(settings), source)
        checked_values[name] = _with_tuple(value)
        _check_value(settings[name], checked_values[name], source, data)
    return checked_values


def _with_tuple(value: object) -> object:
    """Return a value, with a tuple for a list of texts."""
    is_texts = isinstance(value, list) and all([type(element) is str for element in value])
    return tuple(value) if is_texts and isinstance(value, list) else value


def _check_value(setting: Setting, value: object, source: str, data: bytes = b"") -> None:
    if problem := setting.shape.find_problem(value):
        hint = f"correct the value; {setting.name} means: {setting.about}"
        raise ExecplanError("bad-setting", f"{source}: {setting.name} {problem}", hint=hint)
    if isinstance(value, dict):
        _check_table_setting(setting.name, value, source, data)


def _check_table_setting(name: str, table: dict[str, object], source: str, data: bytes) -> None:
    """Raise ExecplanError for an invalid table."""
    if name == "directories":
        for directory, values in table.items():
            check_setting("plans", directory, f"{source}: {name}")
            assert isinstance(values, dict)
            check_table("", values, f"{source}: {name}.{directory!r}", DIRECTORY_SETTINGS)
    elif name == "dialects":
        for dialect, values in table.items():
            assert isinstance(values, dict)
            _check_rows("dialects", values, f"dialects.{dialect}", source, data)
    elif name == "roles":
        _check_rows("roles", table, "roles", source, data)
        _ensure_one_role(table, source, data)
    else:
        check = load_table(name).check_of_repository
        assert check is not None
        check(table, source)


def _check_rows(name: str, values: Mapping[str, object], location: str, source: str, data: bytes) -> None:
    """Raise ExecplanError for a wrong value in a table at a location, with its line in the file."""
    for key, value in values.items():
        try:
            check_table(name, {key: _with_tuple(value)}, location)
        except ExecplanError as error:
            error.line = _find_line(data, location.rpartition(".")[2], key)
            with ErrorContext(source):
                raise


def _ensure_one_role(table: dict[str, object], source: str, data: bytes) -> None:
    """Raise ExecplanError if two roles have the same title."""
    from execplan.core.plan.outline import title_key

    roles: dict[str, str] = {}
    for role, titles in table.items():
        assert isinstance(titles, list)
        for title in titles:
            other = roles.setdefault(title_key(title), role)
            if other != role:
                message = f"roles.{role} has {title!r}, which is also in roles.{other}"
                with ErrorContext(source):
                    raise ExecplanError(
                        "bad-setting",
                        message,
                        hint="remove it from one of them: a title has one role",
                        line=_find_line(data, "roles", role),
                    )


def _find_line(data: bytes, table: str, key: str) -> int:
    """Return the first line from 1 that begins with a key after the table is named, or the line that names it; else 0."""
    named_at = 0
    for number, line in enumerate(data.decode("utf-8").split("\n"), 1):
        named_at = named_at or (number if table in line else 0)
        if named_at and line.lstrip(" \t\"'").startswith(key):
            return number
    return named_at


def _unknown_setting_error(name: str, known_names: tuple[str, ...], source: str) -> ExecplanError:
    from execplan.core.text.suggestions import did_you_mean

    user_table = name if name in features.SETTING_TABLES else USER  # a table that a repository's settings don't have
    for setting in load_table(user_table).settings:
        if name in (setting.name, user_table):
            place = "at the start of {}" if user_table == USER else f"in {{}}, under [{name}]"
            message = f"{source}: {name} {setting.user_only}, which a repository can't do"
            hint = f"remove it; put it {place.format('~/.config/execplan/config.toml')}"
            return ExecplanError("loosened-policy", message, hint=hint)
    hint = did_you_mean(name, known_names) or "see the settings: execplan explain settings"
    if name in load_settings_of("execution"):
        hint = f"did you mean execution.{name}?"
    return ExecplanError("unknown-setting", f"{source}: unknown setting {name}", hint=hint)
