"""The user's own settings, `~/.config/execplan/config.toml`: the only ones that may name code to run."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.repo.settings import read, says

_FILE = os.path.join("execplan", "config.toml")


def path() -> str:
    """The file, whether it is there or not."""
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), _FILE)


def rules() -> tuple[str, ...]:
    """The files and entry points of rules that `lint.rules` names; raises ExecplanError."""
    data = read(path())
    if data is None or not says(data):
        return ()
    from execplan.repo.toml import table

    found = table(data, path()) or {}
    lint = found.get("lint", {})
    unknown = [*(found.keys() - {"lint"}), *(lint.keys() - {"rules"} if isinstance(lint, dict) else ())]
    if unknown:
        raise ExecplanError(
            "unknown-setting",
            f"{path()}: there is no setting {unknown[0]}",
            exit=INPUT,
            hint="did you mean lint.rules?",
        )
    names = lint.get("rules", []) if isinstance(lint, dict) else None
    if not isinstance(names, list) or not all([isinstance(name, str) and name for name in names]):
        raise ExecplanError(
            "bad-setting",
            f"{path()}: lint.rules takes a list of files and entry points",
            exit=INPUT,
            hint='write: [lint] and below it rules = ["~/rules/ours.py"]',
        )
    return tuple(
        [os.path.join(os.path.dirname(path()), os.path.expanduser(name)) if is_file(name) else name for name in names]
    )


def is_file(name: str) -> bool:
    """Whether rules are named by their file, and not by their entry point."""
    return name.endswith(".py") or "/" in name
