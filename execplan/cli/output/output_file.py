"""Writing of files that an option names, such as `--svg FILE`; a file with other content is not overwritten."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

from execplan.cli.answer import Answer
from execplan.core import trace
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import ensure_no_link_out


def write_output_file(
    project: Project, file: str, new: bytes, start: bytes, foreign_error: ExecplanError, max_bytes: int
) -> bool:
    """Write a file atomically and return whether it changed.

    In a repository that is read-only, it is written without a lock. Raises `foreign_error` if the file has content that
    does not begin with `start`, and ExecplanError, as when another process has changed the file at the same time.
    """
    path = os.path.abspath(file)
    ensure_no_link_out(path)
    name = project_state.path_key(os.path.realpath(path))
    make_lock = project_state.cache_lock if project.is_read_only else project_state.lock
    with ExitStack() as stack:
        try:
            stack.enter_context(make_lock(project, name, "stats"))
        except ExecplanError as error:
            if error.exit != ENVIRONMENT:
                raise
            trace.log(f"{file} is written without a lock: {error.message}")
        old = file_access.read(path, max_bytes)[0] if os.path.lexists(path) else None
        if old and not old.startswith(start):
            raise foreign_error
        if old != new:
            atomic_files.replace_if_unchanged(path, old, new)
        return old != new


def written_answer(
    project: Project, file: str, data: dict[str, Any], warnings: tuple[str, ...], *, changed: bool
) -> Answer:
    """Build the answer of a command that has written a file."""
    data = {**data, "path": project.display_path(os.path.abspath(file)), "changed": changed}
    text = f"wrote {file}" if changed else f"{file} is up to date"
    return Answer(data, text, warnings=warnings, is_requested=False)
