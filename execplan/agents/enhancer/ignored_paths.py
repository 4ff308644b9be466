"""Which files of a plan's steps git ignores, so that their content is not sent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.git import git_query
from execplan.core.text.pure_paths import is_inside
from execplan.execution.world import normalize_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.core.project.project import Project


def find_ignored_paths(project: Project, paths: Iterable[str]) -> set[str]:
    """Return the paths that git ignores or that lead out of the repository. Raises ExecplanError if git fails."""
    root = os.path.realpath(project.root)
    relative_paths = {path: _resolve_path(root, path) for path in paths}
    repository_paths = sorted({relative_path for relative_path in relative_paths.values() if relative_path is not None})
    ignored: set[str | None] = {None}
    if project.git is not None and repository_paths:
        # without the prefix, git would take a path that begins with a colon for a pattern
        stdin = b"".join([b"./" + os.fsencode(relative_path) + b"\0" for relative_path in repository_paths])
        query = ("check-ignore", "-z", "--stdin")
        limit = git_query.SCAN_TIMEOUT
        output = git_query.output_or_none(project, *query, no_status=1, stdin=stdin, limit=limit) or b""
        ignored |= {os.fsdecode(raw_path).removeprefix("./") for raw_path in output.split(b"\0") if raw_path}
    return {path for path, relative_path in relative_paths.items() if relative_path in ignored}


def _resolve_path(root: str, path: str) -> str | None:
    """Return a path from the root, with the links in its directories resolved; None if it leads out of the repository."""
    relative_path = normalize_path(path)
    if relative_path is None:
        return None
    directory, name = os.path.split(os.path.join(root, relative_path))
    directory = os.path.realpath(directory)
    return os.path.relpath(os.path.join(directory, name), root) if is_inside(directory, root) else None
