"""Programs of the machine that checks use: found on PATH, and never in the repository."""

from __future__ import annotations

import os
from functools import cache

from execplan.core.text.pure_paths import is_inside


@cache
def find_installed_program(name: str, root: str) -> str | None:
    """Find a program on PATH that is not inside the repository."""
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.realpath(os.path.join(directory, name))
        if os.path.isabs(directory) and not is_inside(path, root) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None
