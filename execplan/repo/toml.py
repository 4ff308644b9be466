"""TOML, for the settings that hold something."""

from __future__ import annotations

import tomllib

from execplan.errors import INPUT, ExecplanError


def table(data: bytes | None, path: str, *names: str) -> dict[str, object] | None:
    """The table of that name, the whole document without a name, None when it is not there; raises ExecplanError."""
    try:
        found: object = tomllib.loads((data or b"").decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExecplanError("bad-toml", f"{path}: {error}", exit=INPUT, hint="mend the file") from None
    for name in names:
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    if not isinstance(found, dict):
        raise ExecplanError("bad-setting", f"{path}: {'.'.join(names)} is no table", exit=INPUT, hint="mend the file")
    return found
