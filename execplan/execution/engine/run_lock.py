"""Run lock: allows one run, resume, rollback or replan at a time in a project, because they share the working tree."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.project import project_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.core.files.file_lock import FileLock
    from execplan.core.project.project import Project

LOCK_NAME: Final = "run"


def acquire_run_lock(project: Project, owner: str, *, waits: bool = False) -> FileLock:
    """Return the run lock, to be used in a `with` statement; `owner` describes its owner to others.

    Raises ExecplanError at once if the lock is taken, because a run may take hours. With `waits`, wait a few seconds
    first: the agent guard takes the lock for a moment at each call of an agent.
    """
    from execplan.core.files.file_lock import is_held, read_holder

    path = project_state.lock_path(project, LOCK_NAME)
    if not waits and is_held(path):
        raise ExecplanError(
            "run-busy",
            f"another execplan process is running here: {read_holder(path) or 'unknown'}",
            hint="wait until it ends, or stop it with Ctrl-C in its terminal",
        )
    return project_state.lock(project, LOCK_NAME, owner)


def run_lock_holder(project: Project) -> str:
    """Return the description of the run lock's owner, or an empty string if it is free. Raises ExecplanError."""
    from execplan.core.files.file_lock import is_held, read_holder

    path = project_state.lock_path(project, LOCK_NAME)
    return (read_holder(path) or "unknown") if is_held(path) else ""
