"""Detection of changes in a project's files: the state of each file, and which plans differ between two states.

Only file status is read, no content: for a thousand plans this takes a few milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from execplan.core.git.linked_worktrees import has_linked_worktrees, list_worktrees, project_in
from execplan.core.plan_store import claims_file, plan_store
from execplan.core.plan_store.comment_location import COMMENTS_FILE
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.execution.approvals.artifact_store import PLAN_FILE_NAME
from execplan.execution.engine.run_records.run_directories import JOURNAL

FileState = tuple[int, int, int]
"""Time of the last modification in nanoseconds, size in bytes and inode number; an atomic replacement changes the inode."""

PROJECT = ""
"""Key for files that belong to no single plan: settings, claims, the git history."""
_RUNS = "runs"
_SETTINGS_FILES = ("pyproject.toml", ".agent/execplan.toml")
_GIT_FILES = ("HEAD", "logs/HEAD")
"""Files in the git directory that change with each commit and checkout."""
_ARTIFACTS = (PLAN_FILE_NAME, COMMENTS_FILE, _RUNS)
"""What changes among a plan's artifacts with compiled steps, with a comment and with a run."""
_MAX_DIRECTORIES = 200
"""Maximum number of directories to watch among the artifacts of a plan."""


class Snapshot(NamedTuple):
    """The states of a project's files at one time."""

    states: dict[str, dict[str, FileState]]
    """States of the existing files by their path; grouped by the path of the plan, or under PROJECT."""

    def changed_plans(self, earlier: Snapshot) -> frozenset[str]:
        """Return the paths of the plans whose files differ; it contains PROJECT if other files do."""
        keys = {*self.states, *earlier.states}
        return frozenset([key for key in keys if self.states.get(key) != earlier.states.get(key)])


def take_snapshot(project: Project, *, all_worktrees: bool = False) -> Snapshot:
    """Read the states of the files of a project and its nested projects that a board or a plan's page shows.

    With `all_worktrees`, those of the same projects in other worktrees, too. Raises ExecplanError if a nested project is
    missing or its settings can't be read.
    """
    members = project_discovery.with_nested_projects(project)
    if all_worktrees and has_linked_worktrees(project):
        other_worktrees = [
            worktree for worktree in list_worktrees(project) if worktree.exists and worktree.root != project.root
        ]
        members = [*members, *[project_in(member, worktree) for worktree in other_worktrees for member in members]]
    states: dict[str, dict[str, FileState]] = {}
    for member in members:
        for key, path in _watched_files(member):
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
                folder = project.plan_artifacts_dir(path, archived=False)
                if folder != project.plans:  # a plan without a directory of its own
                    yield from _watched_artifacts(path, folder)
    for directory, names in plan_store.plan_files(project, archive=True):
        yield PROJECT, directory  # a move changes it
        for name in names:
            path = os.path.join(directory, name)
            yield path, path
    yield PROJECT, claims_file.claims_path(project)
    for name in _SETTINGS_FILES:
        yield PROJECT, os.path.join(project.base, name)
    for name in _GIT_FILES if project.git is not None else ():
        yield PROJECT, os.path.join(project.git or "", name)
    runs = os.path.join(project.state, _RUNS)
    for name in _entries(runs):  # these journals are written first
        yield (
            PROJECT,
            os.path.join(runs, name) if name.endswith(".jsonl") else os.path.join(runs, name, "copy", JOURNAL),
        )


def _watched_artifacts(path: str, artifacts: str) -> Iterator[tuple[str, str]]:
    """Yield the paths to watch among the artifacts of the plan in a file."""
    for directory in _artifact_directories(artifacts):
        yield path, directory
    for name in _ARTIFACTS:
        yield path, os.path.join(artifacts, name)
    runs = os.path.join(artifacts, _RUNS)
    for name in _entries(runs):
        yield path, os.path.join(runs, name, JOURNAL)


def _artifact_directories(artifacts: str) -> Iterator[str]:
    """Yield a directory of artifacts and those in it, which change when a file is added; not those of runs."""
    pending, count = [artifacts], 0
    while pending and count < _MAX_DIRECTORIES:
        directory = pending.pop()
        count += 1
        yield directory
        try:
            with os.scandir(directory) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        pending += [os.path.join(directory, name) for name in sorted(names) if directory != artifacts or name != _RUNS]


def _entries(directory: str) -> list[str]:
    """Return the names in a directory; none if it is missing or can't be read, which must not hide other changes."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _file_state(path: str) -> FileState | None:
    """Return the state of a file, or None if it does not exist or can't be accessed."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
