"""Workspaces on a worker: the commit from the bundle with the files that differ, and a copy for each ticket."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from typing import TYPE_CHECKING

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.files.tree_walk import copy_tree
from execplan.core.git.git_process import run_git_checked
from execplan.core.project.project import Project
from execplan.core.project.project_settings import Settings
from execplan.execution.engine.executors.ticket import SCHEMA
from execplan.execution.engine.executors.workspace_packing import BUNDLE
from execplan.execution.engine.workspace.file_archive import find_problem, unpack_archive, write_archive
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from execplan.execution.engine.executors.ticket import Ticket
    from execplan.execution.engine.workspace.file_archive import FileArchive

_SETTINGS = Settings(artifacts=".git/execplan", archive_artifacts=".git/execplan")
"""Settings with which no path outside of `.git` counts as evidence of runs: there is none here."""
_GIT_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=true", "-c", "core.fileMode=true")
_ATTRIBUTES = b"* -text -ident -filter !working-tree-encoding !eol\n"
"""Attributes with which git writes the bytes of its blobs; those in this file override all others."""


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
        raise ExecplanError("bad-ticket", problem, exit=INPUT, hint="run the step again")


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
    return ExecplanError(
        "bad-ticket", "the workspace was damaged on its way to the worker", exit=INPUT, hint="run the step again"
    )
