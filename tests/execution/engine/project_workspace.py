"""Folders for the tests of what steps do to files: what is in them, made of anything, told as one value."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.project import project_discovery
from execplan.execution.engine.workspace import workspace_snapshot
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.project.project import Project
    from execplan.execution.engine.journal.journal_entries import StateChange
    from execplan.execution.engine.workspace.workspace_snapshot import WorkspaceSnapshot

TreeEntry = tuple[str, bytes | str, int]
"""`file` with its bytes and mode, `link` with where it leads, `folder` with its mode."""
TreeEntries = dict[str, TreeEntry]


def read_tree(root: Path, *, but: tuple[str, ...] = (".git", ".agent")) -> TreeEntries:
    """All that is below a folder."""
    entries: TreeEntries = {}
    for folder, folders, files in os.walk(root):
        at = os.path.relpath(folder, root)
        if at == ".":
            folders[:] = [name for name in folders if name not in but]
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            mode = stat.S_IMODE(status.st_mode)
            relative_path = os.path.normpath(os.path.join(at, name))
            if stat.S_ISLNK(status.st_mode):
                entries[relative_path] = ("link", os.readlink(path), 0)
            elif stat.S_ISDIR(status.st_mode):
                entries[relative_path] = ("folder", "", mode)
            else:
                entries[relative_path] = (
                    "file",
                    Path(path).read_bytes() if stat.S_ISREG(status.st_mode) else "other",
                    mode,
                )
    return entries


def build(root: Path, entries: Mapping[str, TreeEntry]) -> None:
    """Let there be nothing else below a folder, but for what is git's and ours."""
    for child in root.iterdir():
        if child.name not in (".git", ".agent"):
            shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
    for path, (kind, content, mode) in sorted(entries.items()):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            target.symlink_to(content if isinstance(content, str) else content.decode())
        elif kind == "folder":
            target.mkdir(exist_ok=True)
            target.chmod(mode)
        else:
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
            target.chmod(mode)


class ProjectWorkspace(NamedTuple):
    """A home with its files and its backups."""

    project: Project
    files: WorkspaceFiles
    store: BackupStore

    @property
    def root(self) -> Path:
        """Its folder."""
        return Path(self.project.root)

    def take_snapshot(
        self, *declared: str, previous: WorkspaceSnapshot | None = None, keep: bool = True
    ) -> WorkspaceSnapshot:
        """Look at the tree."""
        return workspace_snapshot.take_snapshot(self.project, self.files, self.store, declared, previous, keep=keep)

    def changes(self, before: WorkspaceSnapshot, *declared: str) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
        """What has changed since."""
        after = self.take_snapshot(*declared, previous=before, keep=False)
        return workspace_snapshot.diff_snapshots(before, after, declared, self.store, self.files)


def open_workspace(path: Path) -> ProjectWorkspace:
    """The home around a folder."""
    project = project_discovery.find(str(path))
    return ProjectWorkspace(project, WorkspaceFiles(project), BackupStore(project))
