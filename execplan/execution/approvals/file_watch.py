"""The files that decide whether a plan is approved, and their status numbers, by which a change is noticed.

A result that is stored with these numbers is valid while no file has changed.
"""

from __future__ import annotations

import os
from stat import S_IFMT, S_ISLNK

from execplan.core import features
from execplan.execution import rare_features

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.approved_plan import ApprovalCandidate

    FileStatus: TypeAlias = tuple[int, ...]
    WatchedPath: TypeAlias = tuple[str, bool]
    """A path, and whether its full status matters; of a parent directory only the identity does."""
    WatchedFile: TypeAlias = tuple[str, bool, FileStatus]

_MTIME_MARGIN_NS = 2_000_000_000
"""Minimum age of a file in nanoseconds at the check: the coarsest file system has a resolution of two seconds.

`file_status` has the same; the guard imports nothing that it can do without.
"""


def list_paths(
    project: Project, ref: PlanRef, candidate: ApprovalCandidate | None, *, with_programs: bool = True
) -> list[WatchedPath]:
    """Return the paths that decide whether a plan is approved; `candidate` is None if it does not compile.

    Raises ExecplanError.
    """
    from execplan.core.project import user_settings
    from execplan.core.project.project_settings import PYPROJECT_FILE, SETTINGS_FILE
    from execplan.execution.approvals import (
        approval_files,
        approval_key,
        approval_paths,
        approval_registry,
        artifact_store,
    )

    stored_approvals = approval_files.read_all(project, ref)
    full_paths = {
        ref.path,
        artifact_store.path_of(project, ref),
        approval_paths.directory(project, ref),
        *[stored.path for stored in stored_approvals],
        approval_key.path(project),
        user_settings.path(),
    }
    full_paths |= {os.path.join(project.base, SETTINGS_FILE), os.path.join(project.base, PYPROJECT_FILE)}
    for stored in approval_files.select_readable(stored_approvals):
        ids = (stored.approval.id, *stored.approval.origins)
        full_paths |= {path for approval_id in ids for path in approval_registry.entry_paths(project, approval_id)}
    bound_paths = (
        [os.path.join(project.root, path) for path in candidate.binding.states] if candidate is not None else []
    )
    if candidate is not None and candidate.document.finds_files:
        full_paths |= _searched_paths(project, candidate)
    if candidate is not None and with_programs:
        full_paths |= _program_paths(project, candidate)
    return [
        *[(path, True) for path in sorted(full_paths | set(bound_paths))],
        *[(path, False) for path in list_parents(project, bound_paths)],
    ]


def list_parents(project: Project, paths: Iterable[str]) -> list[str]:
    """Return the directories between the root of the repository and paths in it, the root included."""
    parent_paths = set()
    for start in paths:
        path = start
        while len(path) > len(project.root):
            path = os.path.dirname(path)
            parent_paths.add(path)
    return sorted(parent_paths)


def _searched_paths(project: Project, candidate: ApprovalCandidate) -> set[str]:
    """Return the files in which steps search, and their directories."""
    from execplan.execution.approvals.disk_world import DiskWorld

    paths = features.load(rare_features.SEARCHED_FILES)(candidate.document, DiskWorld(project))
    return {os.path.join(project.root, name) for path in paths for name in (path, os.path.dirname(path))}


def _program_paths(project: Project, candidate: ApprovalCandidate) -> set[str]:
    """Return the bound programs, the paths of files with code, and the directories in which programs are searched."""
    from execplan.execution.approvals.disk_world import DiskWorld
    from execplan.execution.code_files import find_code_files
    from execplan.execution.program_lookup import working_directory

    world, document = DiskWorld(project), candidate.current_plan.document
    code_paths = [
        code_file.path
        for step in document.steps
        if document.mode != "agent"
        for code_file in find_code_files(step, working_directory(step, world.state), world)
    ]
    step_paths = [step.env["PATH"] for step in document.steps if "PATH" in step.env]
    program_paths = [
        path for program in (candidate.binding.programs or {}).values() for path in (program.path, program.real)
    ]
    directories = [
        directory for path in (*step_paths, os.environ.get("PATH", os.defpath)) for directory in path.split(os.pathsep)
    ]
    return {os.path.join(project.root, path) for path in [*program_paths, *code_paths, *directories] if path}


def watch(paths: Iterable[WatchedPath]) -> list[WatchedFile]:
    """Return paths with their current status."""
    return [(path, is_full_status, _file_status(path, is_full_status=is_full_status)) for path, is_full_status in paths]


def are_unchanged(watched_files: Iterable[WatchedFile]) -> bool:
    """Return whether all paths still have their status."""
    return all(
        [
            _file_status(path, is_full_status=is_full_status) == tuple(file_status)
            for path, is_full_status, file_status in watched_files
        ]
    )


def may_have_changed_since(watched_files: Sequence[WatchedFile], time_ns: int) -> bool:
    """Return whether a path may have changed since a time in nanoseconds, or so shortly before that it is not noticed."""
    return any(
        [
            max((*file_status[4:6], *file_status[10:12]), default=0) > time_ns - _MTIME_MARGIN_NS
            for file_status in [
                file_status or _directory_status(path)
                for path, is_full_status, file_status in watched_files
                if is_full_status
            ]
        ]
    )


def _directory_status(path: str) -> FileStatus:
    """Return the status of the nearest directory of a missing file, which a removal has changed."""
    file_status: FileStatus = ()
    while not file_status and path != os.path.dirname(path):
        path = os.path.dirname(path)
        file_status = _file_status(path, is_full_status=True)
    return file_status


def _file_status(path: str, *, is_full_status: bool) -> FileStatus:
    """Return the status numbers of a file, for a link also those of its target; empty if it does not exist."""
    try:
        link_status = os.lstat(path)
    except OSError:
        return ()
    if not is_full_status:
        return S_IFMT(link_status.st_mode), link_status.st_ino, link_status.st_dev
    file_status: FileStatus = (
        link_status.st_mode,
        link_status.st_ino,
        link_status.st_dev,
        link_status.st_size,
        link_status.st_mtime_ns,
        link_status.st_ctime_ns,
    )
    if S_ISLNK(link_status.st_mode):
        try:
            target_status = os.stat(path)
        except OSError:
            return file_status
        file_status += (
            target_status.st_mode,
            target_status.st_ino,
            target_status.st_dev,
            target_status.st_size,
            target_status.st_mtime_ns,
            target_status.st_ctime_ns,
        )
    return file_status
