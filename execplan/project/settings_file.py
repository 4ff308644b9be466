"""The settings file that `init` writes, with every setting and its description."""

from __future__ import annotations

import os

from execplan.files import file_access
from execplan.project.project_settings import DESCRIPTIONS, Settings, toml_literal


def render_settings(settings: Settings) -> bytes:
    """Render every setting, as a comment if it has its default value."""
    lines = ["# Settings of execplan. Every line that is commented out shows the default.", ""]
    for name, value in settings._asdict().items():
        default = getattr(Settings(), name)
        lines += [f"# {DESCRIPTIONS[name]}", f"{'# ' if value == default else ''}{name} = {toml_literal(value)}", ""]
    return ("\n".join(lines[:-1]) + "\n").encode("utf-8")


def has_content(path: str, content: bytes) -> bool:
    """Return whether a file has exactly the content that `init` writes, possibly in a run whose commit failed."""
    return os.path.isfile(path) and file_access.read(path, len(content)) == (content, len(content))
