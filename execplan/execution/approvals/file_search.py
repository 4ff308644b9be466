"""The files of a repository that steps may find by a pattern: what git would keep, and that belongs to no plan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from execplan.core.files.tree_walk import walk_tree
from execplan.core.git import git_query
from execplan.core.project.own_paths import make_own_path_check
from execplan.core.project.project import Project
from execplan.core.text.path_globs import matches_path_glob
from execplan.execution.approvals.reserved_paths import make_protection_check
from execplan.execution.documents.written_paths import glob_directory


def find_repository_files(project: Project, patterns: Sequence[str], removed: Iterable[str] = ()) -> list[str]:
    """Return the files and links that match a pattern, in order; also those of `removed`, which existed before.

    Files that git ignores, plans, and what belongs to git or execplan are left out. Raises ExecplanError.
    """
    before = {path for path in removed if any([matches_path_glob(path, pattern) for pattern in patterns])}
    is_protected, is_own = make_protection_check(project), make_own_path_check(project)
    tops = [glob_directory(pattern) for pattern in patterns]
    paths = git_query.unignored_files(project) if project.git else _walk(project, tops)
    return sorted(
        before
        | {
            path
            for path in paths
            if any([matches_path_glob(path, pattern) for pattern in patterns])
            and not is_protected(path)
            and not is_own(path)
            and _is_file_or_link(os.path.join(project.root, path))
        }
    )


def _is_file_or_link(path: str) -> bool:
    return os.path.islink(path) or os.path.isfile(path)


def _walk(project: Project, tops: Sequence[str]) -> Iterator[str]:
    """Yield the files and links in directories of a project without git."""
    for top in dict.fromkeys(tops):
        for directory, subdirectories, names in walk_tree(os.path.join(project.root, top)):
            subdirectories[:] = [name for name in subdirectories if name != ".git"]
            links = [name for name in subdirectories if os.path.islink(os.path.join(directory, name))]
            for name in [*names, *links]:
                yield os.path.relpath(os.path.join(directory, name), project.root)
