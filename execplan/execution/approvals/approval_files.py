"""Approval files of a plan, stored among its artifacts so that they are archived with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project, ensure_inside
from execplan.execution.approval_document import Approval
from execplan.execution.approvals import approval_paths
from execplan.execution.approvals.artifact_store import write_artifact

ApprovalFile: TypeAlias = "StoredApproval | UnreadableApproval"

_MAX_BYTES = 5 << 20


class StoredApproval(NamedTuple):
    """A stored approval with its file."""

    path: str
    approval: Approval
    is_intact: bool
    """Whether the file has the bytes and the name with which it was written."""

    @property
    def digest(self) -> str:
        """Return the approved digest, with which the file's name begins."""
        return _named_digest(self.path)


class UnreadableApproval(NamedTuple):
    """A file among the approvals that cannot be read as one."""

    path: str
    error: str

    @property
    def digest(self) -> str:
        """Return the approved digest, with which the file's name begins."""
        return _named_digest(self.path)


def _named_digest(path: str) -> str:
    return os.path.basename(path).removesuffix(".json").partition("-")[0]


def read_all(project: Project, ref: PlanRef) -> list[ApprovalFile]:
    """Read all approvals of a plan, newest first and unreadable ones last. Raises ExecplanError."""
    approval_files = [_read_approval(project, path) for path in approval_paths.list_paths(project, ref)]
    return sorted(approval_files, key=_newest_first_key, reverse=True)


def select_readable(approval_files: Sequence[ApprovalFile]) -> list[StoredApproval]:
    """Return the approvals that can be read."""
    return [stored for stored in approval_files if isinstance(stored, StoredApproval)]


def _newest_first_key(stored: ApprovalFile) -> tuple[str, int]:
    """Return the sort key of an approval: when it was approved, then when its file was written."""
    try:
        written_ns = os.lstat(stored.path).st_mtime_ns
    except OSError:
        written_ns = 0
    return stored.approval.approved_at if isinstance(stored, StoredApproval) else "", written_ns


def _read_approval(project: Project, path: str) -> ApprovalFile:
    try:
        ensure_inside(project, path)
        data, size = file_access.read(path, _MAX_BYTES)
        if size > _MAX_BYTES:
            return UnreadableApproval(path, f"it has {size:,} bytes, too many for an approval")
        approval = load_document(data, Approval, project.display_path(path))
    except ExecplanError as error:
        return UnreadableApproval(path, error.message)
    is_intact = data == document_bytes(approval) and os.path.basename(path) == approval.file_name
    return StoredApproval(path, approval, is_intact)


def save(project: Project, ref: PlanRef, approval: Approval) -> bytes | None:
    """Write an approval to its file and return the previous bytes.

    The caller holds the plan's lock. Raises ExecplanError.
    """
    path, new_bytes = approval_paths.file_path(project, ref, approval.file_name), document_bytes(approval)
    return atomic_files.retry_on_change(lambda: write_artifact(project, path, new_bytes), project.display_path(path))


def select_by_digest(approval_files: list[ApprovalFile], prefix: str) -> list[ApprovalFile]:
    """Return the approvals whose digest has a prefix: one of them, all for `all`, or the only one for an empty prefix.

    With an empty prefix, an approval derived from another one here does not count, because it ends with that one.
    Raises ExecplanError if the prefix matches none or is ambiguous.
    """
    if prefix in ("", "all"):
        matches = approval_files
    else:
        matches = [stored for stored in approval_files if stored.digest.startswith(prefix.lower())]
    if not prefix:
        ids = {stored.approval.id for stored in select_readable(approval_files)}
        matches = [
            stored
            for stored in approval_files
            if isinstance(stored, UnreadableApproval) or ids.isdisjoint(stored.approval.origins)
        ]
    if not matches and prefix == "all":
        return []
    digests = [stored.digest for stored in matches or approval_files]
    list_hint = "list them: execplan approve --list"
    if not matches:
        message = f"no approval starts with {prefix!r}" if approval_files else "there are no approvals"
        raise ExecplanError("no-such-approval", message, hint=list_hint, candidates=digests)
    if len(set(digests)) > 1 and prefix != "all":  # those of one digest are by several people, and belong together
        message = f"{len(set(digests))} approvals match"
        hint = "specify more digits of the digest, or all"
        raise ExecplanError("ambiguous-approval", message, hint=hint, candidates=list(dict.fromkeys(digests)))
    return matches
