"""The workspace for workers: the history as a git bundle, and the files that differ from its commit."""

from __future__ import annotations

import os
import stat
from hashlib import new, sha256
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.git import git_query
from execplan.core.git.git_directory import head_commit, is_shallow
from execplan.execution.engine.executors.ticket import SCHEMA
from execplan.execution.engine.workspace.file_archive import pack_archive
from execplan.execution.engine.workspace.workspace_walker import WorkspaceWalker
from execplan.execution.world import ABSENT, FILE, LINK, State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from execplan.core.project.project import Project
    from execplan.execution.engine.workspace.file_archive import Entry
    from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles

BUNDLE: Final = "bundle"
"""Attachment of a packed workspace: the history as a git bundle."""
_MAX_BYTES: Final = 2 << 30
"""Size limit in bytes for a packed workspace."""
_SYMLINK, _SUBMODULE = "120000", "160000"
"""Modes of entries in a git tree."""


class PackedWorkspace(NamedTuple):
    """The workspace as it was when the run session began."""

    id: str
    """Name of its directory on workers, which no other run uses."""
    digest: str
    """SHA-256 digest of the data."""
    data: bytes
    states: dict[str, State]
    """State by path of all files and links in it."""
    name: str
    """Name of the directory that commands see."""


def pack_workspace(project: Project, workspace: WorkspaceFiles) -> PackedWorkspace:
    """Pack the commit that is checked out, and every file that differs from it and that Git doesn't ignore.

    The bytes on disk count: neither line endings nor filters are converted. A shallow clone is sent without its history.
    Raises ExecplanError.
    """
    head = None if is_shallow(project) else head_commit(project)
    tracked = _tracked_blobs(project, head) if head else {}
    walker = WorkspaceWalker(project, workspace)
    walker.collect_unignored(None, None)
    states: dict[str, State] = {}
    entries: list[Entry] = []
    size = 0
    for path, status in sorted(walker.statuses.items()):
        entry, state, blob = _read_entry(workspace, path, status, len(head or "") or 40)
        if entry is None:
            continue
        states |= {} if state is None else {path: state}
        if tracked.get(path) != blob or not blob:
            entries.append(entry)
            size += status.st_size
            _ensure_not_larger(size)
    is_missing = [path for path in tracked if path not in states and workspace.state(path).kind == ABSENT]
    entries += [{"path": path, "kind": ABSENT} for path in is_missing]
    header = {"schema": SCHEMA, "head": head}
    attachments = {BUNDLE: git_query.output(project, "bundle", "create", "--quiet", "-", "HEAD")} if head else {}
    data = pack_archive(header, entries, workspace.read, attachments)
    _ensure_not_larger(len(data))
    name = os.path.basename(project.root) or "workspace"
    return PackedWorkspace(f"workspace-{uuid4().hex}", sha256(data).hexdigest(), data, states, name)


def _ensure_not_larger(size: int) -> None:
    if size > _MAX_BYTES:
        raise ExecplanError(
            "too-large-to-send",
            f"the workspace is larger than {_MAX_BYTES >> 30} GiB, so it can't be sent to workers",
            exit=CHECK_FAILED,
            hint="let Git ignore large files that no step needs, or run the plan here, without --executor",
        )


def _read_entry(
    workspace: WorkspaceFiles, path: str, status: os.stat_result, digest_length: int
) -> tuple[Entry | None, State | None, tuple[str, str]]:
    """Return the entry of a path, the state of a file or link, and its mode and ID in a git tree."""
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if stat.S_ISDIR(status.st_mode):
        return {"path": path, "kind": "folder", "mode": mode}, None, ("", "")
    if stat.S_ISLNK(status.st_mode):
        state = workspace.state(path)
        blob = _blob_id(os.fsencode(state.link), digest_length)
        return {"path": path, "kind": LINK, "link": state.link}, state, (_SYMLINK, blob)
    if not stat.S_ISREG(status.st_mode):
        return None, None, ("", "")
    data = workspace.read(path)
    file_digest = sha256(data).hexdigest()
    tree_mode = "100755" if mode & 0o100 else "100644"
    entry = {"path": path, "kind": FILE, "mode": mode, "sha256": file_digest}
    state = State(FILE, file_digest, mode, "", len(data))
    return entry, state, (tree_mode, _blob_id(data, digest_length))


def _blob_id(data: bytes, length: int) -> str:
    """Return the ID that Git gives to a blob: SHA-1, or SHA-256 in repositories with IDs of 64 digits."""
    digest = new("sha256" if length == 64 else "sha1", b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _tracked_blobs(project: Project, head: str) -> dict[str, tuple[str, str]]:
    """Return the mode and the ID of each file and link in a commit, by path from the root."""
    output = git_query.output(project, "ls-tree", "-r", "-z", "--full-tree", head)
    return dict(_parse_tree(output))


def _parse_tree(output: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in output.split(b"\0"):
        if line:
            fields, _, path = line.partition(b"\t")
            mode, _, blob = fields.decode().split(" ")
            if mode != _SUBMODULE:
                yield os.fsdecode(path), (mode, blob)
