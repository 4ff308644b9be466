"""Commands with which a repository checks itself, as its own files name them; a person may let agents always run them."""

from __future__ import annotations

import json
import os
from typing import Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.text.plain_toml import parse_toml

_MAX_BYTES: Final = 1 << 20
_NAMES: Final = ("test", "lint", "check", "build")
"""Targets of a makefile and scripts of a package that are checks."""
_LOCK_FILES: Final = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
"""The lock files of package managers other than npm."""
_TOOLS: Final = {"pytest": "pytest ...", "ruff": "ruff check ..."}


def find_checks(root: str) -> list[str]:
    """Return the checks of a repository, in the form of the setting `agent_checks`."""
    makefile = _read(root, "Makefile").decode("utf-8", "replace")
    targets = {line.partition(":")[0] for line in makefile.splitlines() if ":" in line and ":=" not in line}
    package = _parsed_json(_read(root, "package.json"))
    scripts, manager = _table(package, "scripts"), _package_manager(root, package)
    tools = _table(_parsed_toml(_read(root, "pyproject.toml")), "tool")
    return [
        *[f"make {name}" for name in _NAMES if name in targets],
        *[f"{manager} run {name}" for name in _NAMES if name in scripts],
        *[command for name, command in _TOOLS.items() if name in tools],
    ]


def _package_manager(root: str, package: Any) -> str:
    """Return the program that runs the scripts of a package: the one that it or its lock file names, or else npm."""
    manager = str(package.get("packageManager", "")).partition("@")[0] if isinstance(package, dict) else ""
    locked = [program for name, program in _LOCK_FILES.items() if os.path.lexists(os.path.join(root, name))]
    return manager if manager in _LOCK_FILES.values() else [*locked, "npm"][0]


def _read(root: str, name: str) -> bytes:
    try:
        return file_access.read(os.path.join(root, name), _MAX_BYTES)[0]
    except ExecplanError:
        return b""


def _parsed_json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return {}


def _parsed_toml(data: bytes) -> Any:
    try:
        return parse_toml(data)
    except (ValueError, RecursionError):
        return {}


def _table(value: Any, name: str) -> dict[str, Any]:
    table = value.get(name) if isinstance(value, dict) else None
    return table if isinstance(table, dict) else {}
