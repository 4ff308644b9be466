"""An open directory handle: file operations stay in that directory even if its path changes."""

from __future__ import annotations

import errno
import os
import stat
import sys

from execplan.files.file_access import FileChangedError, NotRegularError, file_error, open_regular, resolve_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_WALK_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RENAME_EXCHANGE = 2
"""Flag RENAME_EXCHANGE of renameat2(2), and RENAME_SWAP of macOS's renameatx_np(2)."""
_RENAME_NO_REPLACE = 4 if sys.platform == "darwin" else 1
"""Flag RENAME_NOREPLACE of renameat2(2), and RENAME_EXCL of renameatx_np(2)."""
_UNSUPPORTED_ERRORS = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY)


class OpenDirectory:
    """A directory opened component by component without following links, so that no link can be swapped in."""

    def __init__(self, path: str, *, within: str | None = None, make: bool = False) -> None:
        """Open the directory, and create it if `make` is set.

        Raises FileChangedError if the path leads out of `within`, because it has then changed since it was checked, and
        ExecplanError if the directory can't be opened or created.
        """
        self.path = resolve_path(path)
        if within is not None and not f"{self.path}/".startswith(within.rstrip("/") + "/"):
            raise FileChangedError(path)
        self.created_paths: list[str] = []
        """Directories that were created on the way."""
        try:
            self.handle = self._open_path(make=make)
        except BaseException:
            for created_path in reversed(self.created_paths):
                try:
                    os.rmdir(created_path)
                except OSError:
                    break
            raise

    def __enter__(self) -> OpenDirectory:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self.handle)

    def _open_path(self, *, make: bool) -> int:
        handle = os.open("/", _WALK_FLAGS)
        current_path = ""
        components = [component for component in self.path.split("/") if component]
        for position, component in enumerate(components, 1):
            current_path += f"/{component}"
            flags = (
                _WALK_FLAGS
                if position < len(components)
                else os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            )
            try:
                child_handle = self._open_child(handle, component, flags, current_path, make=make)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise FileChangedError(current_path) from None
                raise file_error(
                    error, current_path, "make" if make and error.errno != errno.EACCES else "write to"
                ) from None
            finally:
                os.close(handle)
            handle = child_handle
        return handle

    def _open_child(self, parent_handle: int, component: str, flags: int, path: str, *, make: bool) -> int:
        try:
            return os.open(component, flags, dir_fd=parent_handle)
        except FileNotFoundError:
            if not make:
                raise
        try:
            os.mkdir(component, dir_fd=parent_handle)
            self.created_paths.append(path)
        except FileExistsError:
            pass
        return os.open(component, flags, dir_fd=parent_handle)

    def join(self, name: str) -> str:
        """Return the path of a name in the directory."""
        return os.path.join(self.path, name)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a file without following a link, or None if it does not exist."""
        try:
            return os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def read(self, name: str, limit: int) -> bytes:
        """Return at most `limit` bytes of a regular file, or no bytes if there is none; raises OSError."""
        try:
            handle = open_regular(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.handle)
        except NotRegularError:
            return b""
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                return b""
            raise
        try:
            return _read_up_to(handle, limit)
        finally:
            os.close(handle)

    def write(self, name: str, data: bytes, mode: int, status_to_copy: os.stat_result | None = None) -> None:
        """Write a new file and flush it to disk; copy mode and owner from a status if given.

        Raises OSError; the file is then removed.
        """
        handle = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=self.handle
        )
        try:
            if status_to_copy is not None:
                _copy_owner_and_mode(handle, status_to_copy)
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view[: 1 << 20]) :]
            if os.fstat(handle).st_size != len(data):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            os.fsync(handle)
        except BaseException:
            self.unlink(name)
            raise
        finally:
            os.close(handle)

    def exchange(self, first_name: str, second_name: str) -> bool:
        """Exchange the names of two files in one step; return False if the file system can't. Raises OSError."""
        return _rename_with_flags(self, first_name, self, second_name, _RENAME_EXCHANGE)

    def rename(self, name: str, target_directory: OpenDirectory, new_name: str) -> None:
        """Rename a file and replace the target if it exists; raises OSError."""
        os.rename(name, new_name, src_dir_fd=self.handle, dst_dir_fd=target_directory.handle)

    def move(self, name: str, target_directory: OpenDirectory, new_name: str) -> None:
        """Rename a file or directory, also into another directory, to an unused name; raises OSError."""
        if not _rename_with_flags(self, name, target_directory, new_name, _RENAME_NO_REPLACE):
            if target_directory.status(new_name) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target_directory.join(new_name))
            self.rename(name, target_directory, new_name)

    def link(self, name: str, new_name: str) -> None:
        """Create a hard link to a file in the same directory; raises OSError."""
        os.link(name, new_name, src_dir_fd=self.handle, dst_dir_fd=self.handle, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Remove a file if it exists, and retry once on failure; raises OSError."""
        for is_last_attempt in (False, True):
            try:
                os.unlink(name, dir_fd=self.handle)
            except OSError:
                if self.status(name) is None:
                    return
                if is_last_attempt:
                    raise
            else:
                return

    def sync(self) -> None:
        """Flush the directory to disk so that renames survive a crash; raises OSError."""
        os.fsync(self.handle)


def _rename_with_flags(source: OpenDirectory, name: str, target: OpenDirectory, new_name: str, flags: int) -> bool:
    """Rename with special flags; return False if the system or the file system can't. Raises OSError."""
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


def _copy_owner_and_mode(handle: int, status_to_copy: os.stat_result) -> None:
    """Copy mode and owner to an open file; skip the owner if permission is missing."""
    current_status = os.fstat(handle)
    if (current_status.st_uid, current_status.st_gid) != (status_to_copy.st_uid, status_to_copy.st_gid):
        try:
            os.fchown(handle, status_to_copy.st_uid, status_to_copy.st_gid)
        except PermissionError:
            pass
    os.fchmod(handle, stat.S_IMODE(status_to_copy.st_mode))


def _read_up_to(handle: int, limit: int) -> bytes:
    chunks = []
    while limit > 0 and (chunk := os.read(handle, min(limit, 1 << 20))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)
