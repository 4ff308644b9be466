"""A read-only view of the repository and the machine: no locks, no cache, no files of its own."""

from __future__ import annotations

import errno
import os
import stat
import sys

from execplan.core.errors import ExecplanError
from execplan.core.files.directory_walk import WALK_FLAGS, open_stepwise
from execplan.core.files.file_access import file_error, read_from
from execplan.core.files.open_directory import DirectoryHandle
from execplan.core.text.text_lines import digest, sha256_constructor
from execplan.execution.approvals.reserved_paths import protection_reason
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OTHER, OUTSIDE, State, normalize_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from execplan.core.project.project import Project
    from execplan.execution.world import Program

MAX_SHOWN_BYTES = 8 << 20
"""Size limit in bytes for a file that is read to show its changes."""
MAX_DIGEST_BYTES = 1 << 30
"""Size limit in bytes for a file that is hashed."""


class DiskWorld:
    """The file system and machine of a project; every access walks the path from the root and follows no link."""

    def __init__(self, project: Project) -> None:
        self.root = project.root
        self.project = project

    def state(self, path: str) -> State:
        """Return the state of a path. Raises ExecplanError if the disk fails."""
        try:
            folder, name = self._open_parent(path)
        except OSError as error:
            return _blocked_state(error)
        with folder:
            try:
                return _read_state(folder, name)
            except OSError as error:
                raise file_error(error, path, "inspect") from None

    def read(self, path: str) -> bytes:
        """Read the bytes of a file. Raises ExecplanError."""
        try:
            folder, name = self._open_parent(path)
        except OSError:
            raise _missing_file_error(path) from None
        with folder:
            if name == ".":
                raise _missing_file_error(path)
            try:
                data, size = read_from(folder.open(name), MAX_SHOWN_BYTES)
            except OSError as error:
                raise file_error(error, path, "read") from None
        if size > MAX_SHOWN_BYTES:
            message = f"{path} is larger than {MAX_SHOWN_BYTES >> 20} MB"
            raise ExecplanError("too-large", message, hint="change it with a command")
        return data

    def find_files(self, patterns: Sequence[str]) -> list[str]:
        """Return the repository's files that match a pattern; see file_search.py."""
        return self._search(patterns)

    def _search(self, patterns: Sequence[str], removed: Iterable[str] = ()) -> list[str]:
        from execplan.core import features
        from execplan.execution import rare_features

        repository_files: list[str] = features.load(rare_features.FILE_SEARCH)(self.project, patterns, removed)
        return repository_files

    def writable(self, path: str) -> bool:
        """Return whether a file can be written, created or removed at a path.

        Checks its directory, or the last existing one above it.
        """
        while True:
            try:
                folder, name = self._open_parent(path)
                break
            except FileNotFoundError as error:
                path = error.filename  # a missing directory: it would be created
            except OSError:
                return False
        with folder:
            try:
                status = folder.status(name)
                is_accessible = os.access(".", os.W_OK | os.X_OK, dir_fd=folder.handle)
            except OSError:
                return False
        if status is None or name == "." or stat.S_ISLNK(status.st_mode):
            return is_accessible
        return is_accessible and bool(stat.S_IMODE(status.st_mode) & 0o222)

    def protected(self, path: str) -> str:
        """Return the reason that a path is reserved for Git or execplan, in any letter case; empty if it is not."""
        return protection_reason(self.project, path)

    def program(self, name: str, cwd: str, path: str = "", first: str = "") -> Program:
        """Resolve a command's program on PATH or from its working directory; see program_resolution.py."""
        from execplan.execution.approvals.program_resolution import find_program

        return find_program(self.root, name, cwd, path, first)

    def code_file(self, path: str) -> Program:
        """Return the file with code at a path; see program_resolution.py."""
        from execplan.execution.approvals.program_resolution import find_code_file

        return find_code_file(self.root, path)

    def interpreter(self, real: str) -> str:
        """Return the name of the program that runs a script; see program_resolution.py."""
        from execplan.execution.approvals.program_resolution import script_interpreter

        return script_interpreter(os.path.join(self.root, real))

    def tool(self, name: str) -> Program:
        """Return the module of an installed tool; see tool_discovery.py."""
        from execplan.core import features
        from execplan.execution import rare_features

        described: Program = features.load(rare_features.TOOL_DESCRIPTION)(self.root, name)
        return described

    def calls(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
        """Return the problems of each tool call; see tool_discovery.py."""
        if not calls:
            return []
        from execplan.core import features
        from execplan.execution import rare_features

        problems: list[list[str]] = features.load(rare_features.TOOL_CALL_CHECK)(self.root, calls)
        return problems

    def free_bytes(self) -> int:
        """Return the bytes that this user can still write to the repository's disk; -1 if unknown."""
        import shutil

        try:
            return shutil.disk_usage(self.root).free
        except OSError:
            return -1

    def memory_bytes(self) -> int:
        """Return the memory in bytes: available on Linux, total elsewhere, -1 if unknown."""
        try:
            with open("/proc/meminfo", encoding="ascii") as file:
                for line in file:
                    if line.startswith("MemAvailable:"):
                        return int(line.split()[1]) << 10
        except (OSError, ValueError):
            pass
        return self.total_memory_bytes()

    def total_memory_bytes(self) -> int:
        """Return the memory of the machine in bytes, or -1 if unknown."""
        if sys.platform == "win32":
            return -1
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            return -1

    def syntax(self, language: str, content: bytes) -> str | None:
        """Check the syntax of a text with an installed program of its language; see syntax_checkers.py."""
        from execplan.execution.approvals.syntax_checkers import check_syntax

        return check_syntax(language, content, self.root)

    def _open_parent(self, path: str) -> tuple[DirectoryHandle, str]:
        """Open the directory that contains a path; return it with the name in it, `.` for the root. Raises OSError."""
        normalized = normalize_path(path)
        if normalized is None:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), "")
        parent, _, name = normalized.rpartition("/")
        return DirectoryHandle(open_stepwise(self.root, parent or ".", WALK_FLAGS), parent), name


class SnapshotWorld(DiskWorld):
    """A consistent view of the world: the shown, evaluated and bound states of a path are the same.

    `files_before` has files as they were before, which are shown and evaluated so.
    """

    def __init__(self, project: Project, files_before: Mapping[str, tuple[State, bytes]] | None = None) -> None:
        super().__init__(project)
        self._files_before = files_before or {}
        self._found_files: dict[tuple[str, ...], list[str]] = {}
        self._states: dict[str, State] = {path: state for path, (state, _) in self._files_before.items()}

    def state(self, path: str) -> State:
        """Return the state of a path when it was first read. Raises ExecplanError if the disk fails."""
        if path not in self._states:
            self._states[path] = super().state(path)
        return self._states[path]

    def find_files(self, patterns: Sequence[str]) -> list[str]:
        """Return the repository's files that matched a pattern when they were first searched. Raises ExecplanError."""
        key = tuple(patterns)
        if key not in self._found_files:
            self._found_files[key] = self._search(patterns, self._files_before)
        return self._found_files[key]

    def read(self, path: str) -> bytes:
        """Read the bytes of a file. Raises ExecplanError if they do not match its state."""
        data = self._files_before[path][1] if path in self._files_before else super().read(path)
        if digest(data) != self.state(path).sha256:
            raise ExecplanError("changed-underneath", f"{path} changed while it was being inspected", hint="try again")
        return data


def _missing_file_error(path: str) -> ExecplanError:
    return ExecplanError("no-such-file", f"file not found: {path}", hint="check the path")


def _blocked_state(error: OSError) -> State:
    """Return the state of a path whose directory could not be opened: missing, a link, or something else."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return State(ABSENT)
    return State(OUTSIDE, link=error.filename if error.errno == errno.ELOOP else "")


def _read_state(folder: DirectoryHandle, name: str) -> State:
    """Return the state of a name in a directory. Raises OSError."""
    status = folder.status(name)
    if status is None:
        return State(ABSENT)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return State(LINK, link=os.readlink(name, dir_fd=folder.handle))
    if stat.S_ISDIR(status.st_mode):
        return State(FOLDER, mode=mode)
    if not stat.S_ISREG(status.st_mode):
        return State(OTHER, mode=mode)
    try:
        sha256 = _digest(folder, name) if status.st_size <= MAX_DIGEST_BYTES else ""
    except PermissionError:
        sha256 = ""
    return State(FILE, sha256, mode, size=status.st_size)


def _digest(folder: DirectoryHandle, name: str) -> str:
    descriptor = folder.open(name)
    try:
        sha256 = sha256_constructor()()
        remaining = MAX_DIGEST_BYTES + 1
        while remaining > 0 and (chunk := os.read(descriptor, 1 << 20)):
            sha256.update(chunk)
            remaining -= len(chunk)
        return str(sha256.hexdigest()) if remaining > 0 else ""
    finally:
        os.close(descriptor)
