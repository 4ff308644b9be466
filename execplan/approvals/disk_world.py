"""A read-only view of the repository and the machine: no locks, no cache, no files of its own."""

from __future__ import annotations

import errno
import os
import stat

from execplan.approvals.reserved_paths import protection_reason
from execplan.errors import CONFLICT, INPUT, ExecplanError
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OTHER, OUTSIDE, State, normalize_path
from execplan.files.file_access import file_error, open_regular
from execplan.named_tuple import NamedTuple
from execplan.text.text_lines import digest, sha256_constructor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from execplan.execution.world import Program
    from execplan.project.project import Project

MAX_SHOWN_BYTES = 8 << 20
"""Size limit in bytes for a file that is read to show its changes."""
MAX_DIGEST_BYTES = 1 << 30
"""Size limit in bytes for a file that is hashed."""
_WALK_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW


class _WalkResult(NamedTuple):
    """The directory that a walk to a path reached."""

    directory_fd: int
    """Handle of the last existing directory; -1 if a link or a file blocks the way."""
    name: str
    """Name to find in the directory; empty for the directory itself."""
    is_parent_missing: bool = False
    """Whether directories on the way are missing."""
    blocked_state: State = State(OUTSIDE)
    """State of the path if no directory is open."""


class DiskWorld:
    """The file system and machine of a project; every access walks the path from the root and follows no link."""

    def __init__(self, project: Project) -> None:
        self.root = project.root
        self.project = project

    def state(self, path: str) -> State:
        """Return the state of a path. Raises ExecplanError if the disk fails."""
        location = self._walk(path)
        if location.directory_fd < 0:
            return location.blocked_state
        try:
            return State(ABSENT) if location.is_parent_missing else _read_state(location.directory_fd, location.name)
        except OSError as error:
            raise file_error(error, path, "look at") from None
        finally:
            os.close(location.directory_fd)

    def read(self, path: str) -> bytes:
        """Read the bytes of a file. Raises ExecplanError."""
        location = self._walk(path)
        if location.directory_fd < 0 or location.is_parent_missing or not location.name:
            if location.directory_fd >= 0:
                os.close(location.directory_fd)
            raise ExecplanError("no-such-file", f"there is no file {path}", exit=INPUT, hint="check the path")
        try:
            descriptor = open_regular(location.name, _READ_FLAGS, dir_fd=location.directory_fd)
        except OSError as error:
            raise file_error(error, path, "read") from None
        finally:
            os.close(location.directory_fd)
        try:
            status = os.fstat(descriptor)
            with open(descriptor, "rb", buffering=0, closefd=False) as file:
                data = file.read(MAX_SHOWN_BYTES + 1) if status.st_size <= MAX_SHOWN_BYTES else b""
        except OSError as error:
            raise file_error(error, path, "read") from None
        finally:
            os.close(descriptor)
        if max(len(data), status.st_size) > MAX_SHOWN_BYTES:
            message = f"{path} has more than {MAX_SHOWN_BYTES >> 20} MB"
            raise ExecplanError("too-large", message, exit=INPUT, hint="change it with a command")
        return data

    def writable(self, path: str) -> bool:
        """Return whether a file can be written, created or removed at a path.

        Checks its directory, or the last existing one above it.
        """
        location = self._walk(path)
        if location.directory_fd < 0:
            return False
        try:
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=location.directory_fd):
                return False
            if location.is_parent_missing or not location.name:
                return True
            status = os.stat(location.name, dir_fd=location.directory_fd, follow_symlinks=False)
            return stat.S_ISLNK(status.st_mode) or bool(stat.S_IMODE(status.st_mode) & 0o222)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        finally:
            os.close(location.directory_fd)

    def protected(self, path: str) -> str:
        """Return the reason that a path is reserved for Git or execplan, in any letter case; empty if it is not."""
        return protection_reason(self.project, path)

    def program(self, name: str, cwd: str, path: str = "", first: str = "") -> Program:
        """Resolve a command's program on PATH or from its working directory; see program_resolution.py."""
        from execplan.approvals.program_resolution import find_program

        return find_program(self.root, name, cwd, path, first)

    def interpreter(self, real: str) -> str:
        """Return the name of the program that runs a script; see program_resolution.py."""
        from execplan.approvals.program_resolution import script_interpreter

        return script_interpreter(os.path.join(self.root, real))

    def tool(self, name: str) -> Program:
        """Return the module of an installed tool; see tool_discovery.py."""
        from execplan.approvals.tool_discovery import describe_tool

        return describe_tool(self.root, name)

    def calls(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
        """Return the problems of each tool call; see tool_discovery.py."""
        from execplan.approvals.tool_discovery import check_calls

        return check_calls(self.root, calls)

    def free_bytes(self) -> int:
        """Return the bytes that this user can still write to the repository's disk; -1 if unknown."""
        try:
            status = os.statvfs(self.root)
        except OSError:
            return -1
        return status.f_bavail * status.f_frsize

    def memory_bytes(self) -> int:
        """Return the memory in bytes: available on Linux, total elsewhere, -1 if unknown."""
        try:
            with open("/proc/meminfo", encoding="ascii") as file:
                for line in file:
                    if line.startswith("MemAvailable:"):
                        return int(line.split()[1]) << 10
        except (OSError, ValueError):
            pass
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            return -1

    def syntax(self, language: str, content: bytes) -> str | None:
        """Check the syntax of a text with an installed program of its language; see syntax_checkers.py."""
        from execplan.approvals.syntax_checkers import check_syntax

        return check_syntax(language, content, self.root)

    def _walk(self, path: str) -> _WalkResult:
        """Open the directory that contains a path, component by component."""
        normalized = normalize_path(path)
        if normalized is None:
            return _WalkResult(-1, "")
        parts = [] if normalized == "." else normalized.split("/")
        directory_fd = os.open(self.root, _WALK_FLAGS & ~os.O_NOFOLLOW)
        for number, part in enumerate(parts[:-1], 1):
            try:
                next_fd = os.open(part, _WALK_FLAGS, dir_fd=directory_fd)
            except FileNotFoundError:
                return _WalkResult(directory_fd, part, is_parent_missing=True)
            except OSError as error:
                blocked_state = _blocked_state(error, directory_fd, part, "/".join(parts[:number]))
                os.close(directory_fd)
                return _WalkResult(-1, "", blocked_state=blocked_state)
            os.close(directory_fd)
            directory_fd = next_fd
        return _WalkResult(directory_fd, parts[-1] if parts else "")


class SnapshotWorld(DiskWorld):
    """A consistent view of the world: the shown, evaluated and bound states of a path are the same."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._states: dict[str, State] = {}

    def state(self, path: str) -> State:
        """Return the state of a path when it was first read. Raises ExecplanError if the disk fails."""
        if path not in self._states:
            self._states[path] = super().state(path)
        return self._states[path]

    def read(self, path: str) -> bytes:
        """Read the bytes of a file. Raises ExecplanError if they do not match its state."""
        data = super().read(path)
        if digest(data) != self.state(path).sha256:
            raise ExecplanError(
                "changed-underneath", f"{path} changed while it was looked at", exit=CONFLICT, hint="look again"
            )
        return data


def _blocked_state(error: OSError, directory_fd: int, part: str, blocked_path: str) -> State:
    """Return the state of a path below something that is not a directory or cannot be entered."""
    if error.errno not in (errno.ELOOP, errno.ENOTDIR):
        return State(OUTSIDE, link="")
    status = os.stat(part, dir_fd=directory_fd, follow_symlinks=False)
    return State(OUTSIDE, link=blocked_path) if stat.S_ISLNK(status.st_mode) else State(ABSENT)


def _read_state(directory_fd: int, name: str) -> State:
    """Return the state of a name in a directory. Raises OSError."""
    try:
        status = os.stat(name, dir_fd=directory_fd, follow_symlinks=False) if name else os.stat(directory_fd)
    except (FileNotFoundError, NotADirectoryError):
        return State(ABSENT)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return State(LINK, link=os.readlink(name, dir_fd=directory_fd))
    if stat.S_ISDIR(status.st_mode):
        return State(FOLDER, mode=mode)
    if not stat.S_ISREG(status.st_mode):
        return State(OTHER, mode=mode)
    try:
        sha256 = _digest(directory_fd, name) if status.st_size <= MAX_DIGEST_BYTES else ""
    except PermissionError:
        sha256 = ""
    return State(FILE, sha256, mode, size=status.st_size)


def _digest(directory_fd: int, name: str) -> str:
    descriptor = open_regular(name, _READ_FLAGS, dir_fd=directory_fd)
    try:
        sha256 = sha256_constructor()()
        remaining = MAX_DIGEST_BYTES + 1
        while remaining > 0 and (chunk := os.read(descriptor, 1 << 20)):
            sha256.update(chunk)
            remaining -= len(chunk)
        return str(sha256.hexdigest()) if remaining > 0 else ""
    finally:
        os.close(descriptor)
