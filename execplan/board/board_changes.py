"""Detection of changes on disk that the board shows, by file status only: a check of a thousand plans takes milliseconds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.engine.run_records.run_directories import JOURNAL
from execplan.plan_store import plan_store
from execplan.plan_store.claims_file import claims_path
from execplan.project.project_discovery import with_nested_projects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.project.project import Project

    FileState = tuple[str, int, int]
    """Path of a file or directory, its size and its modification time in nanoseconds."""
    BoardState = frozenset[FileState]

_WATCHED_ARTIFACTS = ("execution-plan.json", "approvals", "runs")


def board_state(project: Project) -> BoardState:
    """Return a value that changes with the plans, claims, approvals and runs of a project and its nested projects."""
    states: set[FileState] = set()
    for member in with_nested_projects(project):
        for archived in (False, True):
            for directory, names in plan_store.plan_files(member, archive=archived):
                states.update(_file_states([os.path.join(directory, name) for name in names]))
        states.update(_file_states([claims_path(member)]))
        states.update(_file_states(_artifact_paths(member)))
        states.update(_file_states(_run_state_paths(member)))
    return frozenset(states)


def _artifact_paths(project: Project) -> Iterator[str]:
    """Yield the files that approvals and runs add to the artifacts of plans, and the journals of runs."""
    artifacts = project.artifacts_dir("")
    for name in plan_store.list_entries(artifacts, in_order=False):
        for artifact in _WATCHED_ARTIFACTS:
            yield os.path.join(artifacts, name, artifact)
        runs = os.path.join(artifacts, name, "runs")
        for run in _entries(runs):
            yield os.path.join(runs, run, JOURNAL)


def _run_state_paths(project: Project) -> Iterator[str]:
    """Yield the journals of runs in the state directory, which are written first."""
    runs = os.path.join(project.state, "runs")
    for run in _entries(runs):
        yield os.path.join(runs, run, "copy", JOURNAL)


def _entries(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _file_states(paths: Iterator[str] | list[str]) -> Iterator[FileState]:
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            continue
        yield path, status.st_size, status.st_mtime_ns
