"""The order of all operations in a checkout: one line each, in a file next to the plans' journals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.append_log import append_lines, read_lines
from execplan.core.project import project_state
from execplan.core.text.text_codec import quote, unquote
from execplan.core.trace import log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.project.project import Project

_FILE = "operations"
_MAX_BYTES = 4 << 20
"""Size in bytes above which a new file is started; the previous one is kept."""
_MAX_DEPTH = 100
"""Maximum number of stashed journals of earlier plans considered per path."""


def add(project: Project, operation: str, path: str, new_path: str = "") -> None:
    """Append an operation on the plan at the path; it is a move if `new_path` is given.

    Raises ExecplanError if the log can't be written.
    """
    file = _log_path(project)
    project_state.make_state_dir(project, "journal")
    fields = [quote(_relative_path(project, location)) for location in (path, new_path) if location]
    append_lines(file, f"{operation} {' '.join(fields)}\n")
    try:
        if os.path.getsize(file) > _MAX_BYTES:
            os.replace(file, f"{file}.old")  # a process that has the file open still writes into it
    except OSError as error:
        log(f"couldn't recreate {file}: {error}")


def newest_first(project: Project) -> Iterator[tuple[str, str]]:
    """Yield each operation with the current path of its plan, newest first. An operation may have failed, or be undone.

    Raises ExecplanError if the log can't be read.
    """
    # Journals per path, the top one first: the path where each is now, and its depth there.
    journals: dict[str, list[tuple[str, int]]] = {}
    seen_ids: set[str] = set()
    for line in reversed(_read_operations(project)):
        operation, *fields = line.split(" ")
        if operation in seen_ids or not 1 <= len(fields) <= 2:
            continue
        seen_ids.add(operation)
        paths = [unquote(field) for field in fields]
        for path in paths:
            journals.setdefault(path, [(path, depth) for depth in range(_MAX_DEPTH)])
        if len(paths) > 1 and paths[0] != paths[1] and journals[paths[1]]:
            journals[paths[0]].insert(0, journals[paths[1]].pop(0))
        path, depth = (journals[paths[0]] or [("", 1)])[0]
        if not depth:
            yield operation, os.path.normpath(os.path.join(project.path_base, path))


def _relative_path(project: Project, path: str) -> str:
    """Return a path in the form that the log stores; for a symlink, the path of the link."""
    folder, name = os.path.split(path)
    return os.path.relpath(os.path.join(file_access.resolve_path(folder), name), os.path.realpath(project.path_base))


def _read_operations(project: Project) -> list[str]:
    file = _log_path(project)
    try:
        return [*read_lines(f"{file}.old"), *read_lines(file)]
    except ExecplanError as error:
        log(f"{file} can't be read: {error.message}")
        return []


def _log_path(project: Project) -> str:
    return os.path.join(project.state, _FILE)
