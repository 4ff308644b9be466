"""Writing of files that an option names, such as `--svg FILE`; a file with other content is not overwritten."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.files import atomic_files, file_access
from execplan.project import project_state

if TYPE_CHECKING:
    from execplan.errors import ExecplanError
    from execplan.project.project import Project


def write_output_file(
    project: Project, file: str, new: bytes, start: bytes, foreign_error: ExecplanError, max_bytes: int
) -> bool:
    """Write a file atomically and return whether it changed.

    Raises `foreign_error` if the file has content that does not begin with `start`, and ExecplanError.
    """
    path = os.path.abspath(file)
    name = project_state.path_key(os.path.realpath(path))
    make_lock = project_state.cache_lock if project.is_read_only else project_state.lock
    with make_lock(project, name, "stats"):
        old = file_access.read(path, max_bytes)[0] if os.path.lexists(path) else None
        if old and not old.startswith(start):
            raise foreign_error
        if old != new:
            atomic_files.replace_if_unchanged(path, old, new)
        return old != new
