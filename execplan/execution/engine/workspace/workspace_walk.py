"""The walk over the files of a repository, which follows no links and reads no bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from typing import Final

from execplan.core.git import git_query
from execplan.core.project.project import Project
from execplan.execution.approvals.reserved_paths import make_protection_check
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles

FILES: Final = 20_000
BYTES: Final = 256 << 20
"""Limits for the files and bytes that are backed up before a command; above them, only declared paths are."""


class WorkspaceWalker:
    """The files and directories found while walking a project."""

    def __init__(self, project: Project, workspace: WorkspaceFiles) -> None:
        self.project = project
        self.workspace = workspace
        self.statuses: dict[str, os.stat_result] = {}
        """File status by path from the root, including directories."""
        self.unseen: set[str] = set()
        """Paths that were not inspected."""
        self._is_protected = make_protection_check(project)

    def collect_unignored(self, files: int | None, size: int | None) -> bool:
        """Collect everything that Git does not ignore; return False, with nothing collected, if that exceeds a limit.

        Raises ExecplanError.
        """
        ignored = set(git_query.ignored_paths(self.project)) if self.project.git else set()
        self.unseen |= ignored
        if self._collect_below("", ignored, files, size, nested=False):
            return True
        self.statuses, self.unseen = {}, set()
        return False

    def collect_path(self, path: str) -> None:
        """Collect a path with its contents, ignored or not, and its parent directories. Raises ExecplanError."""
        current_path = ""
        for name in path.split("/") if path and not self._is_protected(path) else ():
            current_path = f"{current_path}/{name}" if current_path else name
            status = self.workspace.status(current_path)
            if status is None:
                return
            self.statuses[current_path] = status
        if current_path and stat.S_ISDIR(self.statuses[current_path].st_mode):
            self._collect_below(current_path, (), None, None, nested=True)

    def _collect_below(
        self, top: str, ignored: Collection[str], files: int | None, size: int | None, *, nested: bool
    ) -> bool:
        """Walk a directory; return False once a limit is exceeded. `nested`: include other repositories."""
        pending = [top]
        while pending:
            folder = pending.pop()
            names = self._list_folder(folder)
            if ".git" in names and folder and not nested:
                self.unseen.add(folder)
                continue
            for name, status in names.items():
                path = f"{folder}/{name}" if folder else name
                if path in ignored or self._is_protected(path) or _is_temporary(name):
                    continue
                self.statuses[path] = status
                if stat.S_ISDIR(status.st_mode):
                    pending.append(path)
                elif size is not None:
                    size -= status.st_size
            if (files is not None and len(self.statuses) > files) or (size is not None and size < 0):
                return False
        return True

    def _list_folder(self, folder: str) -> dict[str, os.stat_result]:
        """List a directory; if it cannot be read, record that and return nothing."""
        statuses: dict[str, os.stat_result] = {}
        try:
            handle = self.workspace.open_folder(folder or ".")
        except FileNotFoundError:
            return statuses
        except OSError:
            self.unseen.add(folder)
            return statuses
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    try:
                        statuses[entry.name] = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
        except OSError:
            self.unseen.add(folder)
        finally:
            os.close(handle)
        return statuses


def _is_temporary(name: str) -> bool:
    """Return whether a file is a temporary one that execplan writes before renaming it."""
    return name.startswith(".execplan-") and name.endswith(".tmp")
