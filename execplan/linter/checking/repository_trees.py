"""Answers to rules' queries about the files around a plan; each listing is made once per run, on first use."""

from __future__ import annotations

import os

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import walk_tree
from execplan.core.plan_store import plan_store
from execplan.core.text.pure_paths import is_inside
from execplan.linter.rule_facts import COMMENTS, CYCLE, DEPENDENCY, ENDS, EVIDENCE, HAS, NEED, RepositoryTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.core.project.project import Project

MAX_WALKED_FILES = 50_000
"""Maximum number of files walked without Git; in a larger directory, nothing is reported as missing."""

_SKIPPED_DIRECTORIES = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
"""Directories whose files are generated or installed."""


class RepositoryTrees:
    """The repositories and projects of one run; with `is_staged`, files in the next commit also exist."""

    def __init__(self, *, is_staged: bool = False) -> None:
        self._is_staged = is_staged
        self._indexes_by_root: dict[str, _FileIndex] = {}
        self._duplicates_by_project: dict[str, dict[str, list[str]]] = {}
        self._dependencies_by_project: dict[str, Any] = {}
        self._dependencies_by_bases: dict[tuple[str, ...], Any] = {}
        self._existing_by_path: dict[tuple[str, str], bool] = {}

    def tree_for(self, project: Project) -> RepositoryTree:
        """Return the repository tree for the plans of a project."""
        return RepositoryTree(lambda kind, subject: self._answer_query(project, kind, subject))

    def _answer_query(self, project: Project, kind: str, subject: str) -> object:
        if kind == HAS:
            location = project.root, subject
            if location not in self._existing_by_path:
                self._existing_by_path[location] = self._path_exists(project, subject)
            return self._existing_by_path[location]
        if kind == ENDS:
            return self._file_index(project).has_suffix(subject.strip("/"))
        if kind == EVIDENCE:
            return features.load(features.EVIDENCE_DIGEST)(project, os.path.join(project.root, subject))
        if kind in (DEPENDENCY, NEED, CYCLE):
            answers = self._dependency_answers(project)
            if kind == NEED:
                return answers.find_need_problem(subject)
            return answers.find_problem(subject) if kind == DEPENDENCY else answers.find_cycle(subject)
        if kind == COMMENTS:
            ref = plan_store.ref_for_path(project, os.path.join(project.root, subject))
            return features.load(features.OPEN_COMMENTS)(project, ref, is_staged=self._is_staged)
        return self._find_same_id(project, os.path.join(project.root, subject))

    def _dependency_answers(self, project: Project) -> Any:
        """Return the answers for a project; projects whose plans can name the same plans share them."""
        if project.base not in self._dependencies_by_project:
            from execplan.core.project.project_discovery import related_projects

            bases = tuple([member.base for member in related_projects(project)])
            if bases not in self._dependencies_by_bases:
                self._dependencies_by_bases[bases] = features.load(features.DEPENDENCY_ANSWERS)(project)
            self._dependencies_by_project[project.base] = self._dependencies_by_bases[bases]
        return self._dependencies_by_project[project.base]

    def _path_exists(self, project: Project, path: str) -> bool:
        parts = os.path.normpath(path).split("/")
        if not path or path.startswith("/") or parts[0] == ".." or ".git" in path.split("/"):
            return False
        full_path = os.path.join(project.root, *parts)
        if os.path.lexists(full_path):
            real_directory = os.path.realpath(os.path.dirname(full_path))
            return parts == ["."] or is_inside(real_directory, project.root)
        return self._is_staged and self._file_index(project).contains("/".join(parts))

    def _file_index(self, project: Project) -> _FileIndex:
        if project.root not in self._indexes_by_root:
            self._indexes_by_root[project.root] = _index_repository(project)
        return self._indexes_by_root[project.root]

    def _find_same_id(self, project: Project, path: str) -> str:
        """Return the path of another plan in the project with the same ID as a plan.

        Empty if there is none, or if the plan itself is not in the project.
        """
        if project.plans not in self._duplicates_by_project:
            self._duplicates_by_project[project.plans] = _find_duplicate_ids(project, self._list_plans(project))
        duplicates = self._duplicates_by_project[project.plans]
        paths_with_id = (
            duplicates.get(plan_store.normalize_id(project.split_plan_path(path)[1]), []) if duplicates else []
        )
        if not paths_with_id:
            return ""
        own_path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        other_paths = [plan_path for plan_path in paths_with_id if plan_path != own_path]
        return project.display_path(other_paths[0]) if other_paths and len(other_paths) < len(paths_with_id) else ""

    def _list_plans(self, project: Project) -> list[tuple[str, list[str]]]:
        """Return the directories of the project's plans, including archived ones, with their file names."""
        if not self._is_staged:
            return plan_store.plan_files(project) + plan_store.plan_files(project, archive=True)
        import re

        from execplan.core.project.plan_path_pattern import plan_paths_regex

        plan_pattern = re.compile(
            plan_paths_regex(project._replace(settings=project.settings._replace(directories={}, homes=())))
        )
        split_paths = [os.path.split(path) for path in self._file_index(project).paths if plan_pattern.search(path)]
        return [(os.path.join(project.root, directory), [name]) for directory, name in split_paths]


def _find_duplicate_ids(project: Project, plans: list[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Return the normalized IDs shared by several plans, with their paths."""
    if project.is_flat:  # IDs are file names here: names that all differ in lower case have no duplicates
        file_names = [name for _, files in plans for name in files]
        if len({name.lower() for name in file_names}) == len(file_names) and all(
            [name.isascii() for name in file_names]
        ):
            return {}
    paths_by_id: dict[str, list[str]] = {}
    for directory, files in plans:
        for name in files:
            plan_path = os.path.join(directory, name)
            paths_by_id.setdefault(plan_store.normalize_id(project.split_plan_path(plan_path)[1]), []).append(plan_path)
    return {plan_id: duplicate_paths for plan_id, duplicate_paths in paths_by_id.items() if len(duplicate_paths) > 1}


class _FileIndex:
    """An index of a repository's files by path from its root."""

    def __init__(self, paths: list[str], *, is_complete: bool = True) -> None:
        self.paths = paths
        self._is_complete = is_complete
        self._folders: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            directory, _, name = path.rpartition("/")
            self._by_name.setdefault(name, []).append(directory)
            while directory and directory not in self._folders:
                self._folders.add(directory)
                directory, _, name = directory.rpartition("/")
                self._by_name.setdefault(name, []).append(directory)

    def contains(self, path: str) -> bool:
        """Return whether a file or directory with this path exists."""
        directory, _, name = path.rpartition("/")
        return path in self._folders or directory in self._by_name.get(name, ())

    def has_suffix(self, path: str) -> bool:
        """Return whether any file or directory path ends with these parts."""
        directory, _, name = path.rpartition("/")
        directories = self._by_name.get(name, ())
        if not directory:
            return bool(directories) or not self._is_complete
        return any([f"/{candidate}".endswith(f"/{directory}") for candidate in directories]) or not self._is_complete


def _index_repository(project: Project) -> _FileIndex:
    """Return an index of the tracked files; without Git or if it fails, of the files found by a walk."""
    if project.git is not None:
        from execplan.core.git import git_query

        try:
            return _FileIndex(git_query.tracked_files(project))
        except ExecplanError:
            pass  # lint must work without Git: walk the disk instead
    paths: list[str] = []
    for directory, subdirectories, files in walk_tree(project.root):
        subdirectories[:] = [
            name for name in subdirectories if not name.startswith(".") and name not in _SKIPPED_DIRECTORIES
        ]
        relative_directory = directory[len(project.root) :].lstrip("/")
        paths += [os.path.join(relative_directory, name) for name in files]
        if len(paths) > MAX_WALKED_FILES:
            return _FileIndex(paths, is_complete=False)
    return _FileIndex(paths)
