"""An open directory handle: file operations stay in that directory even if its path changes."""

from __future__ import annotations

import errno
import os
import sys

from execplan.core.files.directory_walk import NO_HANDLE, open_stepwise
from execplan.core.files.file_access import (
    NO_FOLLOW,
    FileChangedError,
    NotRegularError,
    file_error,
    open_regular,
    read_up_to,
    resolve_path,
    sync,
    write_all,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Self

_RENAME_EXCHANGE = 2
"""Flag RENAME_EXCHANGE of renameat2(2), and RENAME_SWAP of macOS's renameatx_np(2)."""
_RENAME_NO_REPLACE = 4 if sys.platform == "darwin" else 1
"""Flag RENAME_NOREPLACE of renameat2(2), and RENAME_EXCL of renameatx_np(2)."""
_UNSUPPORTED_ERRORS = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY)


class DirectoryHandle:
    """The handle of an open directory, with operations on the names in it, which follow no links.

    Windows has no such handles: there, it is None, and the operations take paths.
    """

    def __init__(self, handle: int, path: str) -> None:
        self.handle = handle if handle != NO_HANDLE else None
        self.path = path

    def operand(self, name: str) -> str:
        """Return what the functions of `os` take for a name in the directory, together with the handle."""
        return name if self.handle is not None else self.join(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.handle is not None:
            os.close(self.handle)

    def join(self, name: str) -> str:
        """Return the path of a name in the directory."""
        return os.path.join(self.path, name)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a file without following a link, or None if it does not exist."""
        try:
            return os.stat(self.operand(name), dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str) -> int:
        """Open a regular file for reading and return its handle; raises OSError."""
        return open_regular(self.operand(name), os.O_RDONLY | NO_FOLLOW, dir_fd=self.handle)

    def read(self, name: str, limit: int) -> bytes:
        """Return at most `limit` bytes of a regular file, or no bytes if there is none; raises OSError."""
        try:
            handle = self.open(name)
        except NotRegularError:
            return b""
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                return b""
            raise
        try:
            return read_up_to(handle, limit)
        finally:
            os.close(handle)

    def write(
        self,
        name: str,
        data: bytes | Iterable[bytes],
        mode: int,
        *,
        owner: os.stat_result | None = None,
        ignores_umask: bool = False,
        durable: bool = True,
    ) -> None:
        """Write a new file; copy the owner from a status if given, and flush it to disk unless it need not be durable.

        Raises OSError; the file is then removed.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW
        handle = os.open(self.operand(name), flags, 0o600 if ignores_umask else mode, dir_fd=self.handle)
        try:
            size = 0
            for chunk in (data,) if isinstance(data, bytes) else data:
                write_all(handle, chunk)
                size += len(chunk)
            if owner is not None:
                _copy_owner(handle, owner)
            if ignores_umask and sys.platform != "win32":
                os.fchmod(handle, mode)
            if os.fstat(handle).st_size != size:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            if durable and size:
                sync(handle)
        except BaseException:
            self.unlink(name)
            raise
        finally:
            os.close(handle)

    def replace(self, name: str, temporary_file: str, make_file: Callable[[], object], *, durable: bool = True) -> None:
        """Replace a file or a link by the temporary file that a function creates; raises OSError.

        On any failure, also of that function, the temporary file is removed. One that a killed writer has left is, too.
        """
        self.unlink(temporary_file)
        try:
            make_file()
            self.rename(temporary_file, self, name)
        except BaseException:
            self.unlink(temporary_file)
            raise
        if durable:
            self.sync()

    def exchange(self, first_name: str, second_name: str) -> bool:
        """Exchange the names of two files in one step; return False if the file system can't. Raises OSError."""
        return _rename_with_flags(self, first_name, self, second_name, _RENAME_EXCHANGE)

    def rename(self, name: str, target_directory: DirectoryHandle, new_name: str) -> None:
        """Rename a file and replace the target if it exists; raises OSError."""
        paths = (self.operand(name), target_directory.operand(new_name))
        os.rename(*paths, src_dir_fd=self.handle, dst_dir_fd=target_directory.handle)

    def move(self, name: str, target_directory: DirectoryHandle, new_name: str) -> None:
        """Rename a file or directory, also into another directory, to an unused name; raises OSError."""
        if not _rename_with_flags(self, name, target_directory, new_name, _RENAME_NO_REPLACE):
            if target_directory.status(new_name) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target_directory.join(new_name))
            self.rename(name, target_directory, new_name)

    def link(self, name: str, target_directory: DirectoryHandle, new_name: str) -> None:
        """Create a hard link to a file, also in another directory; raises OSError."""
        paths = (self.operand(name), target_directory.operand(new_name))
        os.link(*paths, src_dir_fd=self.handle, dst_dir_fd=target_directory.handle, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Remove a file if it exists, and retry once on failure; raises OSError."""
        for is_last_attempt in (False, True):
            try:
                os.unlink(self.operand(name), dir_fd=self.handle)
            except OSError:
                if self.status(name) is None:
                    return
                if is_last_attempt:
                    raise
            else:
                return

    def sync(self) -> None:
        """Flush the directory to disk so that renames survive a crash; raises OSError."""
        if self.handle is not None:
            sync(self.handle)


class OpenDirectory(DirectoryHandle):
    """A directory opened component by component without following links, so that no link can be swapped in."""

    def __init__(self, path: str, *, within: str | None = None, make: bool = False) -> None:
        """Open the directory, and create it if `make` is set.

        Raises FileChangedError if the path leads out of `within`, because it has then changed since it was checked, and
        ExecplanError if the directory can't be opened or created.
        """
        real_path = resolve_path(path)
        if within is not None and not f"{real_path}/".startswith(within.rstrip("/") + "/"):
            raise FileChangedError(path)
        drive, below = os.path.splitdrive(real_path)  # the drive is empty, except on Windows
        root = f"{drive}/"
        created: list[str] = []
        try:
            handle = open_stepwise(root, below.strip("/") or ".", created=created if make else None)
        except BaseException as error:
            for created_path in reversed(created):
                try:
                    os.rmdir(root + created_path)
                except OSError:
                    break
            if not isinstance(error, OSError):
                raise
            failed_path = os.path.join(root, error.filename)
            is_link_or_gone = os.path.islink(failed_path) or not os.path.lexists(failed_path)
            if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and is_link_or_gone):
                raise FileChangedError(failed_path) from None
            action = "make" if make and error.errno != errno.EACCES else "write to"
            raise file_error(error, failed_path, action) from None
        super().__init__(handle, real_path)
        self.created_paths = [root + created_path for created_path in created]
        """Directories that were created on the way."""


def _rename_with_flags(source: DirectoryHandle, name: str, target: DirectoryHandle, new_name: str, flags: int) -> bool:
    """Rename with special flags; return False if the system or the file system can't. Raises OSError."""
    if sys.platform == "win32":
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    rename_function = getattr(libc, "renameat2", None) or getattr(libc, "renameatx_np", None)
    if rename_function is None:
        return False
    if (
        rename_function(source.handle, os.fsencode(name), target.handle, os.fsencode(new_name), ctypes.c_uint(flags))
        == 0
    ):
        return True
    error_number = ctypes.get_errno()
    if error_number in _UNSUPPORTED_ERRORS:
        return False
    raise OSError(error_number, os.strerror(error_number))


def _copy_owner(handle: int, owner: os.stat_result) -> None:
    """Copy the owner to an open file if permitted."""
    status = os.fstat(handle)
    if sys.platform != "win32" and (status.st_uid, status.st_gid) != (owner.st_uid, owner.st_gid):
        try:
            os.fchown(handle, owner.st_uid, owner.st_gid)
        except PermissionError:
            pass
