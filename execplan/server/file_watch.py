"""Detection of changes in a project's files: the state of each file, and which plans differ between two states.

Only file status is read, no content: for a thousand plans this takes a few milliseconds.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.plan_store import claims_file, plan_store
from execplan.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.project.project import Project

FileState = tuple[int, int, int]
"""Time of the last modification in nanoseconds, size in bytes and inode number; an atomic replacement changes the inode."""

PROJECT = ""
"""Key for files that belong to no single plan: settings, claims, the git history."""
_RUNS = "runs"
_SETTINGS_FILES = ("pyproject.toml", ".agent/execplan.toml")
_GIT_FILES = ("HEAD", "logs/HEAD")
"""Files in the git directory that change with each commit and checkout."""
_ARTIFACT_DIRECTORIES = ("", _RUNS, "approvals")
"""Directories among a plan's artifacts that change when an artifact, a run or an approval is added."""


class Snapshot(NamedTuple):
    """The states of a project's files at one time."""

    states: dict[str, dict[str, FileState]]
    """States of the existing files by their path; grouped by the path of the plan, or under PROJECT."""

    def changed_plans(self, earlier: Snapshot) -> frozenset[str]:
        """Return the paths of the plans whose files differ; it contains PROJECT if other files do."""
        keys = {*self.states, *earlier.states}
        return frozenset([key for key in keys if self.states.get(key) != earlier.states.get(key)])


def take_snapshot(start: str) -> Snapshot:
    """Read the states of the files of the project that contains a directory, and of its nested projects.

    Raises ExecplanError if the settings can't be read.
    """
    states: dict[str, dict[str, FileState]] = {}
    for project in project_discovery.with_nested_projects(project_discovery.require(start)):
        for key, path in _watched_files(project):
            state = _file_state(path)
            if state is not None:
                states.setdefault(key, {})[path] = state
    return Snapshot(states)


def _watched_files(project: Project) -> Iterator[tuple[str, str]]:
    """Yield the paths to watch, each with the path of the plan that it belongs to, or PROJECT."""
    artifacts = set(plan_store.list_entries(project.artifacts_dir(""), in_order=False))
    for directory, names in plan_store.plan_files(project):
        for name in names:
            path = os.path.join(directory, name)
            yield path, path
            plan_id = project.split_plan_path(path)[1]
            if plan_id in artifacts or not project.is_flat:
                for subdirectory in _ARTIFACT_DIRECTORIES:
                    yield path, os.path.join(project.plan_artifacts_dir(path, archived=False), subdirectory)
    for directory, _ in plan_store.plan_files(project, archive=True):  # a move changes its directory
        yield PROJECT, directory
    yield PROJECT, claims_file.claims_path(project)
    for name in _SETTINGS_FILES:
        yield PROJECT, os.path.join(project.base, name)
    for name in _GIT_FILES if project.git is not None else ():
        yield PROJECT, os.path.join(project.git or "", name)
    runs = os.path.join(project.state, _RUNS)
    for name in plan_store.list_entries(runs, in_order=False):
        yield PROJECT, os.path.join(runs, name, "copy", "journal.jsonl")


def _file_state(path: str) -> FileState | None:
    """Return the state of a file, or None if it does not exist or can't be accessed."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
