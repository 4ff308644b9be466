"""The approval registry: used approvals with their runs, and revoked approvals.

It is outside the repository, so that Git cannot restore an approval.
"""

from __future__ import annotations

import os

from execplan.core.errors import CONFLICT, POLICY, ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.execution.approvals import user_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.files.file_lock import FileLock
    from execplan.core.project.project import Project

_MAX_BYTES = 1 << 12
_RESERVED_SUFFIX = " is about to begin"


class RegistryEntry(NamedTuple):
    """The registry's state of an approval: the run that used it, and whether it is revoked."""

    run_id: str = ""
    """ID of the run that used the approval, for itself and its resumes.

    Empty while no run has, or if the run that reserved it has not begun.
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


def reserve(project: Project, approval_id: str, run_id: str) -> None:
    """Reserve an approval for a run that is about to begin. Raises ExecplanError if it is used or revoked.

    Replaces the reservation of a run that never began: the caller holds the lock of runs, so no other run is about to
    begin.
    """
    _write_use(project, approval_id, f"{run_id}{_RESERVED_SUFFIX}")


def mark_used(project: Project, approval_id: str, run_id: str) -> None:
    """Bind an approval to a run and its resumes. Raises ExecplanError if another run uses it or it is revoked.

    For a new run, call this once the run's first entry is on disk, before any step runs.
    """
    _write_use(project, approval_id, run_id)


def _write_use(project: Project, approval_id: str, new_text: str) -> None:
    """Record the run of an approval, started or reserved.

    Only a reservation can be replaced: by another reservation, or when its own run starts.
    """
    from execplan.core.files import atomic_files

    used_path, revoked_path = entry_paths(project, approval_id)
    run_id, is_started = new_text.removesuffix(_RESERVED_SUFFIX), not new_text.endswith(_RESERVED_SUFFIX)
    with lock(project):
        if os.path.lexists(revoked_path):
            raise _revoked_error(approval_id)
        if atomic_files.create(used_path, new_text.encode()):
            return
        old_bytes = file_access.read(used_path, _MAX_BYTES)[0]
        old_text = old_bytes.decode("utf-8", "replace")
        if old_text == run_id:
            return
        if not old_text.endswith(_RESERVED_SUFFIX) or (
            is_started and old_text.removesuffix(_RESERVED_SUFFIX) != run_id
        ):
            raise already_used_error(old_text.removesuffix(_RESERVED_SUFFIX) or "unknown")
        if old_text != new_text:
            atomic_files.replace_if_unchanged(used_path, old_bytes, new_text.encode())


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
        exit=CONFLICT,
        hint="approve it again: execplan approve",
    )


def _revoked_error(approval_id: str) -> ExecplanError:
    message = f"approval {approval_id[:12]} was revoked"
    return ExecplanError("not-approved", message, exit=POLICY, hint="approve it again: execplan approve")


def entry_paths(project: Project, approval_id: str) -> tuple[str, str]:
    """Return the `.used` and the `.revoked` file of the approval with this ID. Raises ExecplanError."""
    directory = user_directories.state_directory(project)
    return os.path.join(directory, f"{approval_id}.used"), os.path.join(directory, f"{approval_id}.revoked")


def _read_run(path: str) -> str:
    if not os.path.lexists(path):
        return ""
    text = file_access.read(path, _MAX_BYTES)[0].decode("utf-8", "replace") or "unknown"
    return "" if text.endswith(_RESERVED_SUFFIX) else text
