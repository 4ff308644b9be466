"""Workspaces on workers: packed here as a git bundle and the files that differ from its commit, and unpacked there."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from hashlib import new, sha256
from typing import Final, NamedTuple
from uuid import uuid4

from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import copy_tree
from execplan.core.git import git_query
from execplan.core.git.git_directory import head_commit, is_shallow
from execplan.core.git.git_process import run_git_checked
from execplan.core.project.project import Project
from execplan.core.project.project_settings import Settings
from execplan.execution.engine.executors.ticket import SCHEMA, Ticket
from execplan.execution.engine.workspace.file_archive import (
    Entry,
    FileArchive,
    find_problem,
    pack_archive,
    unpack_archive,
    write_archive,
)
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.engine.workspace.workspace_walk import WorkspaceWalker
from execplan.execution.world import ABSENT, FILE, LINK, State

BUNDLE: Final = "bundle"
"""Attachment of a packed workspace: the history as a git bundle."""
_MAX_BYTES: Final = 2 << 30
"""Size limit in bytes for a packed workspace."""
_SYMLINK, _SUBMODULE = "120000", "160000"
"""Modes of entries in a git tree."""
_SETTINGS = Settings(artifacts=".git/execplan", archive_artifacts=".git/execplan")
"""Settings with which no path outside of `.git` counts as evidence of runs: there is none here."""
_GIT_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=true", "-c", "core.fileMode=true")
_ATTRIBUTES = b"* -text -ident -filter !working-tree-encoding !eol\n"
"""Attributes with which git writes the bytes of its blobs; those in this file override all others."""


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


def unpack_workspace(data: bytes, digest: str, folder: str) -> None:
    """Write a packed workspace to a new directory, completely or not at all. Raises ExecplanError."""
    if sha256(data).hexdigest() != digest:
        raise _damaged_error()
    try:
        archive = unpack_archive(data)
    except ValueError:
        raise _damaged_error() from None
    if archive.header.get("schema") != SCHEMA or find_problem(archive, [entry["path"] for entry in archive.entries]):
        raise _damaged_error()
    temporary = f"{folder}.tmp"
    os.makedirs(temporary)
    if archive.attachments:
        _check_out(temporary, archive.header["head"], archive.attachments[BUNDLE])
    write_archive(archive, WorkspaceFiles(workspace_project(temporary)))
    os.rename(temporary, folder)


def workspace_project(root: str) -> Project:
    """Return the project of a workspace, without the settings of its repository."""
    root = os.path.realpath(root)
    git = os.path.join(root, ".git")
    return Project(root, root, git if os.path.isdir(git) else None, _SETTINGS, exists=False)


def copy_workspace(folder: str, copy: str) -> None:
    """Copy an unpacked workspace for a ticket. The objects of git, which never change, are linked."""
    objects = os.path.join(folder, ".git", "objects") + os.sep

    def copy_file(source: str, target: str) -> None:
        if source.startswith(objects):
            os.link(source, target)
        else:
            shutil.copy2(source, target, follow_symlinks=False)

    copy_tree(folder, copy, copy_file)


def write_ticket_files(ticket: Ticket, archive: FileArchive, workspace: WorkspaceFiles) -> None:
    """Write the files that came with a ticket, then check its inputs. Raises ExecplanError."""
    problem = find_problem(archive, [entry["path"] for entry in archive.entries])
    if not problem:
        write_archive(archive, workspace)
        differing = [path for path, digest in ticket.inputs.items() if workspace.state(path).sha256 != digest]
        problem = f"the worker's copy of {differing[0]} differs from the original" if differing else ""
    if problem:
        raise ExecplanError("bad-ticket", problem, hint="run the step again")


def _check_out(folder: str, head: str, bundle: bytes) -> None:
    """Create a repository with the history of a bundle, and check its commit out. Raises ExecplanError."""
    algorithm = "sha256" if len(head) == 64 else "sha1"
    run_git_checked(folder, "init", "--quiet", f"--object-format={algorithm}", "--template=", ".")
    git = os.path.join(folder, ".git")
    os.makedirs(os.path.join(git, "info"), exist_ok=True)
    for name, content in (("info/attributes", _ATTRIBUTES), ("execplan.bundle", bundle)):
        with open(os.path.join(git, name), "wb") as file:
            file.write(content)
    run_git_checked(folder, *_GIT_OPTIONS, "fetch", "--quiet", ".git/execplan.bundle", "HEAD")
    run_git_checked(folder, *_GIT_OPTIONS, "checkout", "--quiet", "--detach", head)
    os.unlink(os.path.join(git, "execplan.bundle"))


def _damaged_error() -> ExecplanError:
    return ExecplanError("bad-ticket", "the workspace was damaged on its way to the worker", hint="run the step again")
