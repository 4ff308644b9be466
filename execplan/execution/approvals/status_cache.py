"""A cache of the approval status of a plan, valid while no file that decides it has changed.

A full check takes twenty times as long as the start of Python, and `status` and `list` check every open plan. Only
they use this cache: commands that approve or run always check.
"""

from __future__ import annotations

import marshal
import os
from time import time_ns

from execplan import __version__
from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state, user_settings
from execplan.core.project.project import Project
from execplan.execution.approvals import file_watch, user_directories
from execplan.execution.approvals.approval_status import ApprovalStatus

StatusJson = dict[str, object]

_CACHE_DIRECTORY = "standing"
_MAX_BYTES = 1 << 20


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
        return cached_status if file_watch.are_unchanged(watched_files) else None
    except (OSError, EOFError, ValueError, TypeError, ExecplanError):
        return None


def cache_status(
    project: Project, ref: PlanRef, approval_status: ApprovalStatus, status_json: StatusJson, run_id: str = ""
) -> None:
    """Cache the status of a plan if it depends only on files; ignore write errors."""
    from execplan.execution.approvals.approval_states import EXPIRED
    from execplan.execution.approvals.approval_status import UncompiledPlan
    from execplan.execution.approvals.approved_plan import ApprovedPlan

    if (
        isinstance(approval_status, UncompiledPlan)
        or approval_status.state == EXPIRED
        or approval_status.candidate.policy.depends_on_commits
        or not project.exists
    ):
        return
    started_ns = time_ns()
    watched_files = file_watch.watch(file_watch.list_paths(project, ref, approval_status.candidate))
    if file_watch.may_have_changed_since(watched_files, started_ns):
        return
    if isinstance(approval_status, ApprovedPlan):
        validity_period = (approval_status.approval.approved_at, approval_status.approval.expires_at)
    else:
        validity_period = ("", "")
    try:
        project_state.make_cache_dir(project, _CACHE_DIRECTORY)
        data = marshal.dumps((_cache_key(project, ref, run_id), watched_files, validity_period, status_json))
        atomic_files.replace(_cache_path(project, ref), data, mode=0o666, durable=False, is_locked=False)
    except (ValueError, ExecplanError):
        pass


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
    return os.path.join(project.caches, _CACHE_DIRECTORY, project_state.path_key(ref.path))
