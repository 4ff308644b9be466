"""The paths that git ignores, each with the pattern and the file that say so."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.git import git_query
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.core.project.project import Project


class IgnoredPath(NamedTuple):
    """A path that git ignores; paths are relative to the repository root."""

    path: str
    source: str
    """File that contains the pattern."""
    line: int
    pattern: str


def find_ignored_paths(project: Project, paths: Iterable[str]) -> list[IgnoredPath]:
    """Return those of the absolute paths that git ignores, without tracked files; empty outside a repository.

    Raises ExecplanError if git fails.
    """
    relative_paths = [os.path.relpath(os.path.realpath(path), project.root) for path in paths]
    relative_paths = [path for path in dict.fromkeys(relative_paths) if path[:3] != "../"]
    return check_ignore(project, relative_paths) if project.git is not None and relative_paths else []


def check_ignore(project: Project, paths: Iterable[str], *, tree: str = "") -> list[IgnoredPath]:
    """Return those of the paths that git ignores, in the repository or in another tree with its configuration.

    Raises ExecplanError if git fails.
    """
    stdin = b"".join([os.fsencode(path) + b"\0" for path in paths])
    tree_args = ("-C", tree, "--git-dir", project.git or "", "--work-tree", tree) if tree else ()
    mode_args = ("--no-index",) if tree else ()
    out = (
        git_query.output_or_none(
            project,
            *tree_args,
            "check-ignore",
            "-v",
            "-z",
            *mode_args,
            "--stdin",
            no_status=1,
            stdin=stdin,
            limit=git_query.SCAN_TIMEOUT,
        )
        or b""
    )
    fields = [os.fsdecode(field) for field in out.split(b"\0")]
    rows = zip(fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=False)
    entries = [IgnoredPath(path, source, int(line), pattern) for source, line, pattern, path in rows]
    return [entry for entry in entries if not entry.pattern.startswith("!")]
