"""The files of a repository, and which of them a text names."""

from __future__ import annotations

import os
import re

from execplan.text.relative_path import resolve_relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from execplan.project.project import Project

_PATH = re.compile(r"[\w.@+~-]+(?:/[\w.@+~\[\]$-]+)*")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_LINK = re.compile(r"\]\(<?([^)\s>]{1,300})")
_SKIPPED_DIRECTORIES = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
_MAX_FILES = 50_000
"""Files that are looked at where no git tells them."""


class FileListing:
    """The files of a repository that git does not ignore, by their paths from its root."""

    def __init__(self, paths: Collection[str], *, root: str = "", base_directories: Sequence[str] = ()) -> None:
        """Know the paths; `base_directories` are those that a text may count from, besides the root."""
        self.paths = frozenset(paths)
        self._root = root.rstrip("/") + "/"
        self._base_directories = [directory.strip("/") for directory in base_directories if directory.strip("/")]
        self._matches: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def resolve(self, path: str) -> str:
        """The file that a path names: counted from the root, from one of the folders, or the only one that ends so."""
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
        """The files below a folder, in order; all of them for the root."""
        return sorted([path for path in self.paths if not directory or path.startswith(f"{directory}/")])

    def referenced_files(self, text: str) -> tuple[str, ...]:
        """The files that a text names, each once, as they come first."""
        paths = [self.resolve(mention) for mention in dict.fromkeys(_iter_mentions(text))]
        return tuple(dict.fromkeys([path for path in paths if path]))


def mentioned_paths(text: str) -> list[str]:
    """What in a text may be a path with a folder in it, each once."""
    return list(dict.fromkeys([mention for mention in _iter_mentions(text) if "/" in mention]))


def _iter_mentions(text: str) -> Iterator[str]:
    """What in a text may be a path: a code span, where a link leads, a word with a slash or a dot in it."""
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
    """The files that git knows or would add; without git, those that a walk finds. Raises ExecplanError."""
    if project.git is None:
        return walk_files(project, *base_directories)
    from execplan.git import git_query

    return FileListing(git_query.unignored_files(project), root=project.root, base_directories=base_directories)


def walk_files(project: Project, *base_directories: str) -> FileListing:
    """The files that a walk finds, without hidden ones and directories of dependencies and builds."""
    paths: list[str] = []
    for directory, subdirectories, names in os.walk(project.root):
        subdirectories[:] = sorted(
            [name for name in subdirectories if not name.startswith(".") and name not in _SKIPPED_DIRECTORIES]
        )
        relative_directory = directory[len(project.root) :].lstrip("/")
        paths += [os.path.join(relative_directory, name) for name in names]
        if len(paths) > _MAX_FILES:
            break
    return FileListing(paths[:_MAX_FILES], root=project.root, base_directories=base_directories)
