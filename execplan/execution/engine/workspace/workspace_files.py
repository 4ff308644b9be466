"""File access in a project: each access resolves the path from the root, without links, and writes are synced."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from execplan.core import trace
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.files.atomic_files import temp_file_name
from execplan.core.files.directory_walk import LIST_FLAGS, WALK_FLAGS, open_below
from execplan.core.files.file_access import NotRegularError, file_error
from execplan.core.files.open_directory import DirectoryHandle
from execplan.core.project.project import Project
from execplan.execution.approvals.reserved_paths import protection_reason
from execplan.execution.world import State, normalize_path

_CHUNK_SIZE = 1 << 20
_READ = "read"


class WorkspaceFiles:
    """The files of a project, with paths relative to its root.

    Paths reserved for Git or execplan can be read but not written.
    """

    def __init__(self, project: Project) -> None:
        from execplan.execution.approvals.disk_world import DiskWorld

        self.project = project
        self._disk = DiskWorld(project)

    def state(self, path: str) -> State:
        """Return the state of a path. Raises ExecplanError if the disk fails."""
        return self._disk.state(path)

    def protection(self, path: str) -> str:
        """Return why a normalized path is reserved for Git or execplan, or an empty string."""
        return protection_reason(self.project, path)

    def status(self, path: str) -> os.stat_result | None:
        """Return the file status of a path; None if it does not exist or is not reachable. Raises ExecplanError."""
        try:
            with self._open_parent(path, _READ) as (folder, name):
                return folder.status(name or ".")
        except ExecplanError as error:
            if error.exit == ENVIRONMENT:
                raise
            return None

    def open_folder(self, path: str) -> int:
        """Open a directory to list it; the caller closes the handle. Raises OSError, ExecplanError."""
        return open_below(self.project.root, self._normalize(path))

    def read(self, path: str) -> bytes:
        """Read the bytes of a file. Raises ExecplanError."""
        return b"".join(self.read_chunks(path))

    def read_chunks(self, path: str) -> Iterator[bytes]:
        """Iterate over the bytes of a file in chunks. Raises ExecplanError."""
        with self._open_parent(path, _READ) as (folder, name):
            try:
                handle = folder.open(name)
            except NotRegularError as error:
                raise file_error(error, path, "read") from None
            try:
                while chunk := os.read(handle, _CHUNK_SIZE):
                    yield chunk
            finally:
                os.close(handle)

    def write(self, path: str, data: bytes, mode: int) -> tuple[str, ...]:
        """Write a file atomically, new or in place of a file or a link. Raises ExecplanError.

        Returns the created directories, outer ones first.
        """
        return self.write_chunks(path, (data,), mode)

    def write_chunks(self, path: str, chunks: Iterable[bytes], mode: int) -> tuple[str, ...]:
        """Write a file like `write` from chunks; an exception raised by the chunks leaves everything unchanged."""

        def make_file(folder: DirectoryHandle, name: str, temporary_name: str) -> None:
            original = folder.status(name)
            folder.write(temporary_name, chunks, mode, owner=original, ignores_umask=True)
            if original is not None and name.endswith(".py"):
                _advance_mtime(folder, temporary_name, original)

        return self._replace(path, make_file)

    def link(self, path: str, target: str) -> tuple[str, ...]:
        """Create a link, new or in place of a file or a link; return the created directories. Raises ExecplanError."""
        return self._replace(
            path, lambda folder, _, temporary_name: os.symlink(target, temporary_name, dir_fd=folder.handle)
        )

    def remove(self, path: str) -> None:
        """Remove a file, a link or a similar path if it exists. Raises ExecplanError."""
        self.remove_temporary(path)
        try:
            with self._open_parent(path, "remove") as (folder, name):
                os.unlink(name, dir_fd=folder.handle)
                folder.sync()
        except _MissingError:
            return
        trace.log(f"removed {path}")

    def remove_temporary(self, path: str) -> None:
        """Remove the temporary file that a killed writer has left next to a path. Raises ExecplanError."""
        try:
            with self._open_parent(path, "clean up next to") as (folder, name):
                folder.unlink(temp_file_name(name))
        except _MissingError:
            pass

    def make_folder(self, path: str, mode: int) -> tuple[str, ...]:
        """Create a directory or change its mode. Raises ExecplanError.

        Returns the created directories, including itself.
        """
        created: list[str] = []
        normalized = self._normalize(path, writes=True)
        with self._report_errors(path, "make"):
            try:
                handle = open_below(self.project.root, normalized, LIST_FLAGS, created)
            except PermissionError:  # the current mode does not allow listing it
                handle = open_below(self.project.root, normalized, WALK_FLAGS, created)
            try:
                _change_mode(handle, mode)
            finally:
                os.close(handle)
        return tuple(created)

    def remove_folder(self, path: str) -> bool:
        """Remove an empty directory; return False if it is missing or not empty. Raises ExecplanError."""
        try:
            with self._open_parent(path, "remove") as (folder, name):
                try:
                    os.rmdir(name, dir_fd=folder.handle)
                except OSError as error:
                    if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                        return False
                    raise
                folder.sync()
        except _MissingError:
            return False
        trace.log(f"removed {path}")
        return True

    def _replace(self, path: str, make_file: Callable[[DirectoryHandle, str, str], None]) -> tuple[str, ...]:
        """Replace a path by the file that `make_file` creates under a temporary name. Raises ExecplanError.

        Returns the created directories.
        """
        created: list[str] = []
        try:
            with self._open_parent(path, "write", created) as (folder, name):
                temporary_name = temp_file_name(name)
                folder.replace(name, temporary_name, lambda: make_file(folder, name, temporary_name))
        except BaseException:
            for created_folder in reversed(created):
                self.remove_folder(created_folder)
            raise
        trace.log(f"wrote {path}")
        return tuple(created)

    @contextmanager
    def _open_parent(
        self, path: str, action: str, created: list[str] | None = None
    ) -> Iterator[tuple[DirectoryHandle, str]]:
        """Open the parent directory of a path; yield it and the name in it.

        Missing directories are created if `created` is given, and appended to it.
        """
        parent, _, name = self._normalize(path, writes=action != _READ).rpartition("/")
        with (
            self._report_errors(path, action),
            DirectoryHandle(open_below(self.project.root, parent or ".", LIST_FLAGS, created), parent) as folder,
        ):
            yield folder, name

    def _normalize(self, path: str, *, writes: bool = False) -> str:
        """Return the normalized form of a path.

        Raises ExecplanError if it is outside the repository or must not be written.
        """
        normalized = normalize_path(path)
        if normalized is None:
            raise _outside_error(path)
        protection = protection_reason(self.project, normalized) if writes else ""
        if protection or (writes and normalized == "."):
            why = protection or "the repository itself"
            hint = "steps can't write there: remove it from the step"
            raise ExecplanError("protected-path", f"{path} is {why}", hint=hint)
        return normalized

    @contextmanager
    def _report_errors(self, path: str, action: str) -> Iterator[None]:
        """Convert errors of the operating system to ExecplanError."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as error:
            failure = file_error(error, path, action)
            raise _MissingError(failure.code, failure.message, hint=failure.hint) from None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _outside_error(path) from None
            raise file_error(error, path, action) from None


class _MissingError(ExecplanError):
    """Raised when a path does not exist."""


def _outside_error(path: str) -> ExecplanError:
    return ExecplanError(
        "path-outside",
        f"{path} leads outside the repository or through a link",
        hint="a step can use only files that are reached from the root through directories",
    )


def _change_mode(handle: int, mode: int) -> None:
    """Change the mode of an open directory. Raises OSError."""
    try:
        os.fchmod(handle, mode)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        os.chmod(f"/proc/self/fd/{handle}", mode)


def _advance_mtime(folder: DirectoryHandle, name: str, original: os.stat_result) -> None:
    """Advance the time of a Python file to a later second than that of the file of the same size that it replaces."""
    new = os.stat(name, dir_fd=folder.handle, follow_symlinks=False)
    # Python compares size and second to detect stale bytecode: without this, a test would run the old code.
    if new.st_size == original.st_size and int(new.st_mtime) <= int(original.st_mtime):
        os.utime(name, (new.st_atime, int(original.st_mtime) + 1), dir_fd=folder.handle, follow_symlinks=False)
