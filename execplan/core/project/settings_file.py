"""The settings as TOML: the file that `init` writes, with every setting and its description, and the lines of the help."""

from __future__ import annotations

import os

from execplan.core.files import file_access
from execplan.core.project.project_settings import Settings
from execplan.core.project.setting_table import load_settings_of

_NAME_WIDTH = 24
"""Minimum width of a setting and its default in the help; their description follows."""
_MAX_WIDTH = 76
"""Maximum width of a setting with its description in the help, which indents it by four characters."""


def render_settings(settings: Settings) -> bytes:
    """Render every setting, as a comment if it has its default value."""
    defaults = Settings()._asdict()
    values = settings._asdict()
    lines = ["# Settings of execplan. Lines that are commented out show the defaults.", ""]
    for name, setting in load_settings_of("").items():
        mark = "# " if values[name] == defaults[name] else ""
        lines += [f"# {setting.about}", f"{mark}{name} = {toml_literal(values[name])}", ""]
    return ("\n".join(lines[:-1]) + "\n").encode("utf-8")


def describe_settings(table: str) -> list[str]:
    """Return lines for each setting of a table, with its default and its description."""
    from textwrap import wrap

    indent = " " * (_NAME_WIDTH + 2)
    lines = []
    for setting in load_settings_of(table).values():
        if setting.default is not None:
            assignment = f"{f'{setting.name} = {toml_literal(setting.default)}':<{_NAME_WIDTH}}  "
            first, *next_lines = wrap(setting.about, _MAX_WIDTH - len(indent), break_on_hyphens=False)
            lines += [assignment + first] if len(assignment) == len(indent) else [assignment.rstrip(), indent + first]
            lines += [indent + line for line in next_lines]
    return lines


def has_content(path: str, content: bytes) -> bool:
    """Return whether a file has exactly the content that `init` writes, possibly in a run whose commit failed."""
    return os.path.isfile(path) and file_access.read(path, len(content)) == (content, len(content))


def toml_literal(value: object) -> str:
    """Format the value of a setting as TOML."""
    import json

    if isinstance(value, list | tuple):
        return f"[{', '.join([toml_literal(element) for element in value])}]"
    if isinstance(value, dict) and value:
        return f"{{ {', '.join([f'{_toml_key(key)} = {toml_literal(element)}' for key, element in value.items()])} }}"
    return json.dumps(value, ensure_ascii=False)


def _toml_key(name: str) -> str:
    is_bare = name.isascii() and name.replace("-", "_").isidentifier()
    return name if is_bare else toml_literal(name)
