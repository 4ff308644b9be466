"""Walk over a repository that skips directories with foreign or generated content."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from execplan import trace
from execplan.errors import ExecplanError
from execplan.files import file_access
from execplan.files.tree_walk import walk_tree
from execplan.plan import outline, reader
from execplan.project import project_settings
from execplan.project.plan_directories import is_plan_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SKIPPED_DIRECTORIES = frozenset(
    "node_modules bower_components vendor third_party site-packages __pycache__ venv env dist build target out "
    "fixtures testdata templates pods .git .hg .svn .venv .tox .nox .cache .mypy_cache .pytest_cache .ruff_cache .next "
    ".gradle .terraform .idea .vscode .state".split()
)
"""Names of skipped directories, in lower case: dependencies, generated files, and examples."""
_MAX_DEPTH = 12
_MAX_DIRECTORIES = 100_000
"""Maximum number of directories, for a walk that starts in a home directory or at the root of the disk."""
_PROGRESS_HEADING, _LIVING_HEADING = [
    re.compile(rb"^[#*_` \t]*(?:%b)" % heading_pattern, re.IGNORECASE | re.MULTILINE)
    for heading_pattern in (b"progress", b"decision|sur?prises|outcomes")
]
"""Patterns for headings of a plan, so that most files need not be parsed to reject them."""
_MIN_SECTIONS = 3
"""Minimum number of the twelve sections in a plan; the smallest plan of the census has as many."""


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


def find_markdown(root: str) -> list[str]:
    """Return the paths of the Markdown files below the root, relative to the root."""
    return [
        os.path.join(directory, name)[len(root.rstrip(os.sep)) + 1 :]  # a tenth of the time of relpath
        for directory, _, file_names in walk_repository(root)
        for name in file_names
        if name.endswith(".md")
    ]


def is_plan_file(root: str, path: str, own: Mapping[str, object]) -> bool:
    """Return whether a file is a plan: any form is enough where plans are by convention, elsewhere only the format.

    `own` is the setting `dialects`.
    """
    full_path = os.path.join(root, path)
    if not project_settings.is_plan_name(os.path.basename(path)) or os.path.islink(full_path):
        return False
    try:
        data = file_access.read(full_path, reader.MAX_BYTES)[0]
        return not reader.read(data).is_document if is_plan_path(path, own) else is_plan_text(data)
    except ExecplanError:
        return False


def is_plan_text(data: bytes) -> bool:
    """Return whether a text has Progress, another living section, and at least three of the twelve sections."""
    try:
        if not (_PROGRESS_HEADING.search(data) and _LIVING_HEADING.search(data)):
            return False
        names = {section.name for section in reader.read(data).sections}
    except ExecplanError:
        return False
    living_names = names.intersection(outline.LIVING)
    return outline.PROGRESS in living_names and len(living_names) > 1 and len(names - {None}) >= _MIN_SECTIONS
