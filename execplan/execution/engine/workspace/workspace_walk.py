"""The walk over the files of a repository, which follows no links and reads no bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterator, Mapping
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
        self.ignored: dict[str, bool] = {}
        """Paths that Git ignores, and whether each is a directory."""
        self.ignore_files: dict[str, os.stat_result] = {}
        """File status of each `.gitignore`, which may be ignored itself."""
        self._is_protected = make_protection_check(project)

    def collect_unignored(self, files: int | None, size: int | None) -> bool:
        """Collect everything that Git does not ignore; return False, with nothing collected, if that exceeds a limit.

        Raises ExecplanError.
        """
        self.ignored = git_query.ignored_paths(self.project) if self.project.git else {}
        self.unseen |= self.ignored.keys()
        if self._collect_below("", self.ignored, files, size, nested=False):
            return True
        self.clear()
        return False

    def collect_known(
        self, known_paths: Container[str], ignored: Mapping[str, bool], files: int | None, size: int | None
    ) -> bool:
        """Collect everything without asking Git, if all of it is known and Git ignored only these paths.

        Returns False, with nothing collected, if there are other paths, or if that exceeds a limit.
        """
        for path, status in self._walk("", nested=False):
            if path in ignored:
                self.ignored[path] = stat.S_ISDIR(status.st_mode)
            elif path in known_paths:
                self.statuses[path] = status
            elif not self._is_reserved(path):
                self.clear()
                return False
        is_same_kind = all([ignored[path] == is_directory for path, is_directory in self.ignored.items()])
        sizes = [status.st_size for status in self.statuses.values() if not stat.S_ISDIR(status.st_mode)]
        is_too_much = (files is not None and len(self.statuses) > files) or (size is not None and sum(sizes) > size)
        if is_too_much or not is_same_kind:
            self.clear()
            return False
        self.unseen |= self.ignored.keys()
        return True

    def clear(self) -> None:
        """Forget what was collected."""
        self.statuses, self.unseen, self.ignored, self.ignore_files = {}, set(), {}, {}

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
            self._collect_below(current_path, {}, None, None, nested=True)

    def _collect_below(
        self, top: str, ignored: Container[str], files: int | None, size: int | None, *, nested: bool
    ) -> bool:
        """Collect what is in a directory; return False once a limit is exceeded. `nested`: include other repositories."""
        for path, status in self._walk(top, nested=nested):
            if path in ignored or self._is_reserved(path):
                continue
            self.statuses[path] = status
            if size is not None and not stat.S_ISDIR(status.st_mode):
                size -= status.st_size
            if (files is not None and len(self.statuses) > files) or (size is not None and size < 0):
                return False
        return True

    def _walk(self, top: str, *, nested: bool) -> Iterator[tuple[str, os.stat_result]]:
        """Iterate over what is in a directory, and in each directory below that was collected."""
        pending = [top]
        while pending:
            folder = pending.pop()
            names = self._list_folder(folder)
            if ".git" in names and folder and not nested:
                self.unseen.add(folder)
                continue
            prefix = f"{folder}/" if folder else ""
            for name, status in names.items():
                path = prefix + name
                if name == ".gitignore":
                    self.ignore_files[path] = status
                yield path, status
                if stat.S_ISDIR(status.st_mode) and path in self.statuses:
                    pending.append(path)

    def _is_reserved(self, path: str) -> bool:
        """Return whether a path is reserved for Git or execplan, such as a file that execplan is writing."""
        return bool(self._is_protected(path)) or _is_temporary(path.rpartition("/")[2])

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
