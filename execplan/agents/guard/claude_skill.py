"""Skills of Claude Code: a skill of the repository only gives instructions, unless its file can run commands.

Before the program shows a skill to the agent, it runs each command that the file has as !`command`, and asks no hook.
"""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

_FOLDER: Final = ".claude"
_MAX_BYTES: Final = 1 << 20
_COMMAND_MARKS: Final = ("!`", "!$", "`!", "~!")
"""Marks of a command in a line, possibly after an argument is inserted, or of a code block of commands."""
_HARMLESS_FIELDS: Final = frozenset(
    "allowed-tools argument-hint compatibility description license metadata name user-invocable version when_to_use".split()
)
"""Front matter that starts nothing. `allowed-tools` skips questions of the program, but not the guard."""


def find_instructions(name: str, arguments: str, cwd: str) -> str:
    """Return the path of a skill's file if the skill only gives instructions; empty if it may do more, or is unknown.

    Only skills of the repository count: those of the user and of plugins are elsewhere. `cwd` is absolute.
    """
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum() or "`" in arguments:
        return ""
    paths = [path for folder in _skill_folders(cwd) if os.path.lexists(path := os.path.join(folder, name, "SKILL.md"))]
    if os.path.lexists(os.path.join(_user_folder(), "skills", name)):  # it takes precedence
        return ""
    return paths[0] if paths and all([_only_instructs(path) for path in paths]) else ""


def _skill_folders(cwd: str) -> Iterator[str]:
    """Yield where the program looks for the skills of a repository: from the directory up to the root."""
    folder = cwd
    while True:
        yield os.path.join(folder, _FOLDER, "skills")
        if os.path.lexists(os.path.join(folder, ".git")) or folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def _user_folder() -> str:
    return os.environ.get("CLAUDE_CONFIG_DIR", "") or os.path.join(os.path.expanduser("~"), _FOLDER)


def _only_instructs(path: str) -> bool:
    """Check whether a skill's file has neither a command nor front matter that may start one."""
    try:
        text = file_access.read(path, _MAX_BYTES)[0].decode()
    except (ExecplanError, UnicodeDecodeError):
        return False
    if any([mark in text for mark in _COMMAND_MARKS]):
        return False
    front_matter, is_closed = "", False
    if text.startswith("---\n"):
        front_matter, separator, _ = text[4:].partition("\n---\n")
        is_closed = bool(separator)
    names = [line.partition(":")[0] for line in front_matter.split("\n") if line and not line[0].isspace()]
    return is_closed and _HARMLESS_FIELDS.issuperset(names)
