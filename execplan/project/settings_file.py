"""The settings file that `init` writes."""

from __future__ import annotations

import os

from execplan.files import file_access
from execplan.project.project_settings import DESCRIPTIONS, Settings, toml_literal


def render_settings(settings: Settings) -> bytes:
    """Every setting, as a comment where it has its default."""
    lines = ["# Settings of execplan. Every line that is commented out shows the default.", ""]
    for name, value in settings._asdict().items():
        default = getattr(Settings(), name)
        lines += [f"# {DESCRIPTIONS[name]}", f"{'# ' if value == default else ''}{name} = {toml_literal(value)}", ""]
    return ("\n".join(lines[:-1]) + "\n").encode("utf-8")


def has_content(path: str, content: bytes) -> bool:
    """Whether a file is as `init` wrote it, now or in a run whose commit failed."""
    return os.path.isfile(path) and file_access.read(path, len(content)) == (content, len(content))
