"""TOML, for the settings that hold something."""

from __future__ import annotations

import tomllib

from execplan.errors import INPUT, ExecplanError


def parse_table(data: bytes | None, path: str, *names: str) -> dict[str, object] | None:
    """The table of that name, the whole document without a name, None when it is not there; raises ExecplanError."""
    try:
        parsed: object = tomllib.loads((data or b"").decode("utf-8"))
    except RecursionError:
        raise ExecplanError("bad-toml", f"{path}: it is nested too deeply", exit=INPUT, hint="fix the file") from None
    except ValueError as error:  # also of a number that is too long
        raise ExecplanError("bad-toml", f"{path}: {error}", exit=INPUT, hint="fix the file") from None
    for name in names:
        if not isinstance(parsed, dict) or name not in parsed:
            return None
        parsed = parsed[name]
    if not isinstance(parsed, dict):
        raise ExecplanError("bad-setting", f"{path}: {'.'.join(names)} is no table", exit=INPUT, hint="fix the file")
    _ensure_no_nul(parsed, path)
    return parsed


def _ensure_no_nul(table: dict[str, object], path: str) -> None:
    """Refuse a NUL character, which no path and no argument of a program can hold; raises ExecplanError."""
    values: list[object] = [table]
    for value in values:
        if isinstance(value, dict):
            values += [*value, *value.values()]
        elif isinstance(value, list):
            values += value
        elif isinstance(value, str) and "\0" in value:
            message = f"{path}: {value!r} holds a NUL character"
            raise ExecplanError("bad-setting", message, exit=INPUT, hint="take it out of the file")
