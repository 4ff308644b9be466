"""A cache of the approval status of a plan, valid while no file that decides it has changed.

A full check takes twenty times as long as the start of Python, and `status` and `list` check every open plan. Only
they use this cache: commands that approve or run always check.
"""

from __future__ import annotations

import marshal
import os
from stat import S_IFMT, S_ISLNK
from time import time_ns
from typing import TYPE_CHECKING

from execplan import __version__
from execplan.approvals import artifact_store, user_directories
from execplan.clock import now
from execplan.errors import ExecplanError
from execplan.files import atomic_files, file_access
from execplan.project import project_state, user_settings
from execplan.project.project_settings import PYPROJECT_FILE, SETTINGS_FILE

if TYPE_CHECKING:
    from execplan.approvals.approval_status import ApprovalStatus
    from execplan.approvals.approved_plan import ApprovalCandidate
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

    StatusJson = dict[str, object]
    FileStatus = tuple[int, ...]

_CACHE_DIRECTORY = "standing"
_MAX_BYTES = 1 << 20
_MTIME_MARGIN_NS = 2_000_000_000
"""Minimum age of a file in nanoseconds at the check: the coarsest file system has a resolution of two seconds."""


def read_cached_status(project: Project, ref: PlanRef, run_id: str = "") -> StatusJson | None:
    """Return the cached status of a plan, or of a plan for one run; None if it has to be checked."""
    try:
        with open(file_access.open_regular(_cache_path(project, ref)), "rb") as file:
            key, watched_files, (valid_from, valid_until), status_json = marshal.loads(file.read(_MAX_BYTES))  # noqa: S302 - from our own state folder
        if key != _cache_key(project, ref, run_id) or (
            valid_until and not valid_from <= f"{now():%Y-%m-%dT%H:%M:%SZ}" < valid_until
        ):
            return None
        cached_status: StatusJson = status_json
        return (
            cached_status
            if all(
                [
                    _file_status(path, is_full_status=is_full_status) == file_status
                    for path, is_full_status, file_status in watched_files
                ]
            )
            else None
        )
    except (OSError, EOFError, ValueError, TypeError, ExecplanError):
        return None


def cache_status(
    project: Project, ref: PlanRef, approval_status: ApprovalStatus, status_json: StatusJson, run_id: str = ""
) -> None:
    """Cache the status of a plan if it depends only on files; ignore write errors."""
    from execplan.approvals.approval_status import UncompiledPlan
    from execplan.approvals.approved_plan import EXPIRED, ApprovedPlan

    if (
        isinstance(approval_status, UncompiledPlan)
        or approval_status.state == EXPIRED
        or approval_status.candidate.policy.pin
        or not project.exists
    ):
        return
    started_ns = time_ns()
    watched_files = [
        (path, is_full_status, _file_status(path, is_full_status=is_full_status))
        for path, is_full_status in _watched_paths(project, ref, approval_status.candidate)
    ]
    if any(
        [
            max((*file_status[4:6], *file_status[10:12]), default=0) > started_ns - _MTIME_MARGIN_NS
            for _, is_full_status, file_status in watched_files
            if is_full_status
        ]
    ):
        return
    validity_period = (
        (approval_status.approval.approved_at, approval_status.approval.expires_at)
        if isinstance(approval_status, ApprovedPlan)
        else ("", "")
    )
    try:
        project_state.make_state_dir(project, _CACHE_DIRECTORY)
        data = marshal.dumps((_cache_key(project, ref, run_id), watched_files, validity_period, status_json))
        atomic_files.replace(_cache_path(project, ref), data, mode=0o666, durable=False, is_locked=False)
    except (ValueError, ExecplanError):
        pass


def _watched_paths(project: Project, ref: PlanRef, candidate: ApprovalCandidate) -> list[tuple[str, bool]]:
    """Return each path that decides the status, and whether its full status matters.

    Of a parent directory only the identity matters.
    """
    from execplan.approvals import approval_files, approval_key, approval_registry

    approvals_dir = approval_files.directory(project, ref)
    stored_approvals = approval_files.read_all(project, ref)
    full_paths = {
        ref.path,
        artifact_store.path_of(project, ref),
        approvals_dir,
        *[stored.path for stored in stored_approvals],
        approval_key.path(project),
        user_settings.path(),
    }
    full_paths |= {os.path.join(project.base, SETTINGS_FILE), os.path.join(project.base, PYPROJECT_FILE)}
    for stored in approval_files.select_readable(stored_approvals):
        ids = (stored.approval.id, *stored.approval.origins)
        full_paths |= {path for approval_id in ids for path in approval_registry.entry_paths(project, approval_id)}
    full_paths |= _program_paths(project, candidate)
    bound_paths = [os.path.join(project.root, path) for path in candidate.binding.states]
    parent_paths = set()
    for path in bound_paths:
        while len(path) > len(project.root):
            path = os.path.dirname(path)  # noqa: PLW2901 - up to the root
            parent_paths.add(path)
    return [
        *[(path, True) for path in sorted(full_paths | set(bound_paths))],
        *[(path, False) for path in sorted(parent_paths)],
    ]


def _program_paths(project: Project, candidate: ApprovalCandidate) -> set[str]:
    """Return the bound programs and the directories in which they are searched."""
    step_paths = [step.env["PATH"] for step in candidate.current_plan.document.steps if "PATH" in step.env]
    program_paths = [
        path for program in (candidate.binding.programs or {}).values() for path in (program.path, program.real)
    ]
    directories = [
        directory for path in (*step_paths, os.environ.get("PATH", os.defpath)) for directory in path.split(os.pathsep)
    ]
    return {os.path.join(project.root, path) for path in [*program_paths, *directories] if path}


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


def _cache_key(project: Project, ref: PlanRef, run_id: str) -> tuple[str, ...]:
    """Return the other inputs of the status: the release, PATH, the plan, the run, and the user's paths."""
    path = os.environ.get("PATH", os.defpath)
    return (
        __version__,
        path,
        ref.path,
        run_id,
        user_settings.path(),
        user_directories.config_directory(project),
        user_directories.state_directory(project),
    )


def _cache_path(project: Project, ref: PlanRef) -> str:
    return os.path.join(project.state, _CACHE_DIRECTORY, project_state.path_key(ref.path))
