"""How a plan stood when that was last looked at, believed while nothing that decides it was touched.

To look anew takes twenty times what Python takes to start; `status` and `list` ask of every open plan. Only they believe
this: what approves or runs looks itself.
"""

from __future__ import annotations

import marshal
import os
from stat import S_IFMT, S_ISLNK
from time import time_ns

from execplan import __version__
from execplan.approvals import artifact_store, user_directories
from execplan.clock import now
from execplan.errors import ExecplanError
from execplan.files import file_access
from execplan.project import project_state, user_settings
from execplan.project.project_settings import PYPROJECT_FILE, SETTINGS_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.approvals.approval_status import ApprovalCandidate, ApprovalStatus
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

    StatusJson = dict[str, object]
    FileStatus = tuple[int, ...]

_CACHE_DIRECTORY = "standing"
_MAX_BYTES = 1 << 20
_MTIME_MARGIN_NS = 2_000_000_000
"""Nanoseconds by which a file must be older than the look: the coarsest file system counts two seconds as one time."""


def read_cached_status(project: Project, ref: PlanRef, run_id: str = "") -> StatusJson | None:
    """What was told of a plan, or of it for a run, None when it has to be looked at."""
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
    """Keep what is told of a plan, where that depends on nothing but files; that it can't be kept harms nobody."""
    from execplan.approvals.approval_status import APPROVED, EXPIRED

    if (
        approval_status.candidate is None
        or approval_status.state == EXPIRED
        or approval_status.candidate.policy.pin
        or not project.exists
    ):
        return
    started_ns = time_ns()
    watched_files = [
        (path, is_full_status, _file_status(path, is_full_status=is_full_status))
        for path, is_full_status in _watched_paths(project, ref, approval_status)
    ]
    if any(
        [
            max((*file_status[4:6], *file_status[10:12]), default=0) > started_ns - _MTIME_MARGIN_NS
            for _, is_full_status, file_status in watched_files
            if is_full_status
        ]
    ):
        return
    approval = approval_status.approval if approval_status.state == APPROVED else None
    validity_period = (approval.approved_at, approval.expires_at) if approval is not None else ("", "")
    try:
        project_state.make_state_dir(project, _CACHE_DIRECTORY)
        temporary_path = f"{_cache_path(project, ref)}.{os.getpid()}"
        with open(temporary_path, "wb") as file:
            file.write(marshal.dumps((_cache_key(project, ref, run_id), watched_files, validity_period, status_json)))
        os.replace(temporary_path, _cache_path(project, ref))
    except (OSError, ValueError, ExecplanError):
        pass


def _watched_paths(project: Project, ref: PlanRef, approval_status: ApprovalStatus) -> list[tuple[str, bool]]:
    """Every path that decides, and whether all of its status does, or only what it is, as of a folder on the way."""
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
    for stored in stored_approvals:
        ids = (stored.approval.id, *stored.approval.origins) if stored.approval is not None else ()
        full_paths |= {path for approval_id in ids for path in approval_registry.entry_paths(project, approval_id)}
    assert approval_status.candidate is not None
    full_paths |= _program_paths(project, approval_status.candidate)
    bound_paths = [os.path.join(project.root, path) for path in approval_status.candidate.binding.states]
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
    """The programs that are bound, and the folders that they are looked for in."""
    step_paths = [step.env["PATH"] for step in candidate.current_plan.document.steps if "PATH" in step.env]
    program_paths = [
        path for program in (candidate.binding.programs or {}).values() for path in (program.path, program.real)
    ]
    directories = [
        directory for path in (*step_paths, os.environ.get("PATH", os.defpath)) for directory in path.split(os.pathsep)
    ]
    return {os.path.join(project.root, path) for path in [*program_paths, *directories] if path}


def _file_status(path: str, *, is_full_status: bool) -> FileStatus:
    """What a file's status is, of a link also that of what it leads to; nothing for what is not there."""
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
    """What else decides: the program, the run that waits, and where programs and the user's files are."""
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
