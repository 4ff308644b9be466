"""Folders for the tests of what steps do to files: what is in them, made of anything, told as one value."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from execplan.engine.workspace import workspace_snapshot
from execplan.engine.workspace.backup_store import BackupStore
from execplan.engine.workspace.workspace_files import WorkspaceFiles
from execplan.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.engine.journal.journal_entries import Change
    from execplan.engine.workspace.workspace_snapshot import WorkspaceSnapshot
    from execplan.project.project import Project

Thing = tuple[str, bytes | str, int]
"""`file` with its bytes and mode, `link` with where it leads, `folder` with its mode."""
Things = dict[str, Thing]


def things(root: Path, *, but: tuple[str, ...] = (".git", ".agent")) -> Things:
    """All that is below a folder."""
    found: Things = {}
    for folder, folders, files in os.walk(root):
        at = os.path.relpath(folder, root)
        if at == ".":
            folders[:] = [name for name in folders if name not in but]
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            mode = stat.S_IMODE(status.st_mode)
            shown = os.path.normpath(os.path.join(at, name))
            if stat.S_ISLNK(status.st_mode):
                found[shown] = ("link", os.readlink(path), 0)
            elif stat.S_ISDIR(status.st_mode):
                found[shown] = ("folder", "", mode)
            else:
                found[shown] = ("file", Path(path).read_bytes() if stat.S_ISREG(status.st_mode) else "other", mode)
    return found


def build(root: Path, wanted: Mapping[str, Thing]) -> None:
    """Let there be nothing else below a folder, but for what is git's and ours."""
    for each in root.iterdir():
        if each.name not in (".git", ".agent"):
            shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
    for path, (kind, what, mode) in sorted(wanted.items()):
        each = root / path
        each.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            each.symlink_to(what if isinstance(what, str) else what.decode())
        elif kind == "folder":
            each.mkdir(exist_ok=True)
            each.chmod(mode)
        else:
            each.write_bytes(what if isinstance(what, bytes) else what.encode())
            each.chmod(mode)


class Looked(NamedTuple):
    """A home with its files and its backups."""

    project: Project
    ground: WorkspaceFiles
    store: BackupStore

    @property
    def root(self) -> Path:
        """Its folder."""
        return Path(self.project.root)

    def look(self, *declared: str, known: WorkspaceSnapshot | None = None, keep: bool = True) -> WorkspaceSnapshot:
        """Look at the tree."""
        return workspace_snapshot.take_snapshot(self.project, self.ground, self.store, declared, known, keep=keep)

    def changes(self, before: WorkspaceSnapshot, *declared: str) -> tuple[tuple[Change, ...], tuple[str, ...]]:
        """What has changed since."""
        after = self.look(*declared, known=before, keep=False)
        return workspace_snapshot.diff_snapshots(before, after, declared, self.store, self.ground)


def looked(path: Path) -> Looked:
    """The home around a folder."""
    project = project_discovery.find(str(path))
    return Looked(project, WorkspaceFiles(project), BackupStore(project))
