"""Walk over a repository that skips directories with foreign or generated content."""

from __future__ import annotations

import os
from collections.abc import Iterator

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import walk_tree
from execplan.core.project import project_settings

_SKIPPED_DIRECTORIES = frozenset(
    "node_modules bower_components vendor third_party site-packages __pycache__ venv env dist build target out "
    "fixtures testdata templates scaffold scaffolds skills pods .git .hg .svn .venv .tox .nox .cache .mypy_cache .pytest_cache .ruff_cache .next "
    ".gradle .terraform .idea .vscode .state".split()
)
"""Names of skipped directories, in lower case: dependencies, generated files, and examples."""
_MAX_DEPTH = 12
_MAX_DIRECTORIES = 100_000
"""Maximum number of directories, for a walk that starts in a home directory or at the root of the disk."""


def walk_repository(root: str, max_depth: int = _MAX_DEPTH) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each directory from the root with the sorted names of its subdirectories and files.

    Skipped are links, other repositories, directories of dependencies, generated files and examples, and names that
    settings can't contain.
    """
    for count, (directory, subdirectories, file_names) in enumerate(walk_tree(root)):
        if count == _MAX_DIRECTORIES:
            trace.log(f"searched {_MAX_DIRECTORIES:,} directories below {root}, and no more")
            return
        if directory != root and ".git" in [*subdirectories, *file_names]:
            subdirectories.clear()
            continue
        depth = directory[len(root) :].count(os.sep)
        subdirectories[:] = sorted([name for name in subdirectories if depth < max_depth and not _is_skipped(name)])
        yield directory, subdirectories, sorted(file_names)


def _is_skipped(name: str) -> bool:
    """Return whether to skip a directory, including those of project templates, such as `{{ name }}`."""
    return name.lower() in _SKIPPED_DIRECTORIES or "{" in name or name != name.encode("utf-8", "replace").decode()


def find_projects(root: str, max_depth: int = _MAX_DEPTH) -> list[str]:
    """Return the directories below the root that contain a project."""
    return [
        directory
        for directory, _, file_names in walk_repository(root, max_depth)
        if directory != root and _is_project_directory(directory, file_names)
    ]


def find_nearby_projects(root: str, max_depth: int, max_directories: int) -> list[str]:
    """Return the directories below the root that contain a project, nearest first; list at most `max_directories`.

    A directory with an unreadable settings file counts as a project, because its errors do not matter to this search.
    """
    project_directories: list[str] = []
    current_level, listed_count = [root], 0
    for depth in range(max_depth + 1):
        next_level = []
        for directory in current_level:
            if listed_count == max_directories:
                trace.log(f"searched {max_directories:,} directories below {root} for projects, and no more")
                return project_directories
            listed_count += 1
            subdirectories, file_names = _list_directory(directory)
            if directory != root and ".git" in [*subdirectories, *file_names]:
                continue
            try:
                if directory != root and _is_project_directory(directory, file_names):
                    project_directories.append(directory)
            except ExecplanError:
                project_directories.append(directory)
            next_level += [
                os.path.join(directory, name) for name in subdirectories if depth < max_depth and not _is_skipped(name)
            ]
        current_level = next_level
    return project_directories


def _list_directory(directory: str) -> tuple[list[str], list[str]]:
    """Return the names of the subdirectories, without links, and of the files in a directory; empty if unreadable."""
    subdirectories: list[str] = []
    file_names: list[str] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                (subdirectories if entry.is_dir(follow_symlinks=False) else file_names).append(entry.name)
    except OSError:
        return [], []
    return sorted(subdirectories), file_names


def _is_project_directory(directory: str, file_names: list[str]) -> bool:
    """Return whether a directory contains a project. Raises ExecplanError for unreadable settings."""
    if os.path.isfile(os.path.join(directory, project_settings.SETTINGS_FILE)):
        return True
    has_settings = project_settings.PYPROJECT_FILE in file_names and project_settings.load(directory) is not None
    return has_settings or os.path.isdir(os.path.join(directory, project_settings.Settings().plans))
