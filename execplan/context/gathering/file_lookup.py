"""Listing of a repository's files, and lookup of the files that a text names."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from execplan.core.files.tree_walk import walk_tree
from execplan.core.text.pure_paths import resolve_relative

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from execplan.core.project.project import Project

_PATH = re.compile(r"[\w.@+~-]+(?:/[\w.@+~\[\]$-]+)*")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_LINK = re.compile(r"\]\(<?([^)\s>]{1,300})")
_SKIPPED_DIRECTORIES = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
_MAX_FILES = 50_000
"""Maximum number of files listed without git."""


class FileListing:
    """The repository's files that git does not ignore, by their paths from the root."""

    def __init__(self, paths: Collection[str], *, root: str = "", base_directories: Sequence[str] = ()) -> None:
        """Index the paths; besides the root, paths in a text may start from `base_directories`."""
        self.paths = frozenset(paths)
        self._root = root.rstrip("/") + "/"
        self._base_directories = [directory.strip("/") for directory in base_directories if directory.strip("/")]
        self._matches: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def resolve(self, path: str) -> str:
        """Return the file that a path names, or an empty string.

        The path may start at the root or a base directory. Otherwise it must be the ending of exactly one file's path.
        """
        path = path.removeprefix(self._root)
        if path not in self._matches:
            is_known_name = path.rpartition("/")[2] in self._by_name
            self._matches[path] = self._resolve(path) if is_known_name else ""
        return self._matches[path]

    def _resolve(self, path: str) -> str:
        for directory in ("", *self._base_directories):
            full_path = resolve_relative(directory, path)
            if full_path and full_path in self.paths:
                return full_path
        suffix = f"/{resolve_relative('', path) or path}"
        candidates = [candidate for candidate in self._by_name[path.rpartition("/")[2]] if candidate.endswith(suffix)]
        return candidates[0] if len(candidates) == 1 else ""

    def files_below(self, directory: str) -> list[str]:
        """Return the files in a directory and below it, sorted; all files for an empty path."""
        return sorted([path for path in self.paths if not directory or path.startswith(f"{directory}/")])

    def referenced_files(self, text: str) -> tuple[str, ...]:
        """Return the files that a text names, without duplicates, in order of appearance."""
        paths = [self.resolve(mention) for mention in dict.fromkeys(_iter_mentions(text))]
        return tuple(dict.fromkeys([path for path in paths if path]))


def mentioned_paths(text: str) -> list[str]:
    """Return the parts of a text that may be paths with a directory, without duplicates."""
    return list(dict.fromkeys([mention for mention in _iter_mentions(text) if "/" in mention]))


def _iter_mentions(text: str) -> Iterator[str]:
    """Yield the parts of a text that may be paths: code spans, link targets, and words with a slash or a dot."""
    from execplan.linter.plan_links import relative_path
    from execplan.linter.plan_paths import extract_path

    if "`" in text:
        for code in _CODE.findall(text):
            yield extract_path(code.strip())
    if "](" in text:
        for target in _LINK.findall(text):
            yield relative_path(target)
    for candidate in _PATH.findall(text):
        stripped = candidate.strip(".") if candidate.endswith(".") else candidate
        if "/" in stripped or "." in stripped[1:-1]:
            yield stripped


def list_files(project: Project, *base_directories: str) -> FileListing:
    """List the files that git tracks or would add; without git, walk the directory tree.

    Raises ExecplanError if git fails.
    """
    if project.git is None:
        return walk_files(project, *base_directories)
    from execplan.core.git import git_query

    return FileListing(git_query.unignored_files(project), root=project.root, base_directories=base_directories)


def walk_files(project: Project, *base_directories: str) -> FileListing:
    """List files by walking the directory tree, without hidden, dependency and build directories."""
    paths: list[str] = []
    for directory, subdirectories, names in walk_tree(project.root):
        subdirectories[:] = sorted(
            [name for name in subdirectories if not name.startswith(".") and name not in _SKIPPED_DIRECTORIES]
        )
        relative_directory = directory[len(project.root) :].lstrip("/")
        paths += [os.path.join(relative_directory, name) for name in names]
        if len(paths) > _MAX_FILES:
            break
    return FileListing(paths[:_MAX_FILES], root=project.root, base_directories=base_directories)
