"""The approval registry: used approvals with their runs, and revoked approvals.

It is outside the repository, so that Git cannot restore an approval. That a run has used an approval is a symbolic link
to the run's ID, which is on disk as soon as its directory is synced; where there are no links, it is a file with the ID.
"""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.execution.approvals import user_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.files.file_lock import FileLock
    from execplan.core.project.project import Project

_MAX_BYTES = 1 << 12
_RESERVED_SUFFIX = " is about to begin"
"""What an earlier version wrote after the ID of a run that had not begun yet."""


class RegistryEntry(NamedTuple):
    """The registry's state of an approval: the run that used it, and whether it is revoked."""

    run_id: str = ""
    """ID of the run that used the approval, for itself and its resumes.

    Empty while no run has.
    """
    is_revoked: bool = False


def lock(project: Project) -> FileLock:
    """Return the lock of the approval registry."""
    from execplan.core.files import atomic_files
    from execplan.core.files.file_lock import FileLock

    directory = user_directories.state_directory(project)
    atomic_files.make_directory(directory)
    return FileLock(os.path.join(directory, "register.lock"), "the approval registry")


def read_entry(project: Project, approval_id: str) -> RegistryEntry:
    """Return the registry entry of the approval with this ID. Raises ExecplanError if it cannot be read."""
    used_path, revoked_path = entry_paths(project, approval_id)
    return RegistryEntry(_read_run(used_path), os.path.lexists(revoked_path))


def ensure_unused(project: Project, approval_id: str) -> None:
    """Raise ExecplanError if an approval is used or revoked, or if its use can't be recorded.

    The caller holds the lock of runs, and the approval is valid in this checkout only, so no other run uses it meanwhile.
    """
    with lock(project):
        entry = read_entry(project, approval_id)
    if entry.is_revoked:
        raise _revoked_error(approval_id)
    if entry.run_id:
        raise already_used_error(entry.run_id)


def mark_used(project: Project, approval_id: str, run_id: str) -> None:
    """Bind an approval to a run and its resumes. Raises ExecplanError if another run uses it or it is revoked.

    For a new run, call this once the run's first entry is on disk, before any step runs.
    """
    from execplan.core.files import atomic_files

    used_path, revoked_path = entry_paths(project, approval_id)
    with lock(project):
        if os.path.lexists(revoked_path):
            raise _revoked_error(approval_id)
        earlier_run = _read_run(used_path)
        if earlier_run not in ("", run_id):
            raise already_used_error(earlier_run)
        if not earlier_run and not _link(used_path, run_id):
            atomic_files.replace(used_path, run_id.encode(), mode=0o666)


def revoke(project: Project, approval_id: str) -> bool:
    """Revoke an approval for good; return False if it was already revoked. Raises ExecplanError."""
    from execplan.core.files import atomic_files

    with lock(project):
        return atomic_files.create(entry_paths(project, approval_id)[1], b"")


def already_used_error(run_id: str) -> ExecplanError:
    """Return the error for a second run of the same approval."""
    return ExecplanError(
        "approval-used",
        f"the approval was already used by run {run_id}: an approval is valid for one run and its resumes",
        hint="approve it again: execplan approve",
    )


def _revoked_error(approval_id: str) -> ExecplanError:
    message = f"approval {approval_id[:12]} was revoked"
    return ExecplanError("not-approved", message, hint="approve it again: execplan approve")


def entry_paths(project: Project, approval_id: str) -> tuple[str, str]:
    """Return the `.used` and the `.revoked` file of the approval with this ID. Raises ExecplanError."""
    directory = user_directories.state_directory(project)
    return os.path.join(directory, f"{approval_id}.used"), os.path.join(directory, f"{approval_id}.revoked")


def _link(path: str, run_id: str) -> bool:
    """Make a path a symbolic link to a run's ID; return False if that is not possible."""
    from execplan.core.files import atomic_files

    temporary_path = f"{path}.tmp"
    try:
        file_access.remove_if_exists(temporary_path)  # of a killed writer
        os.symlink(run_id, temporary_path)
        os.replace(temporary_path, path)
    except OSError:
        return False
    atomic_files.sync_directory(os.path.dirname(path))
    return True


def _read_run(path: str) -> str:
    if os.path.islink(path):
        return os.readlink(path) or "unknown"
    if not os.path.lexists(path):
        return ""
    text = file_access.read(path, _MAX_BYTES)[0].decode("utf-8", "replace") or "unknown"
    return "" if text.endswith(_RESERVED_SUFFIX) else text
