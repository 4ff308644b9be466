"""Reading and writing of open files, regular ones only, and conversion of operating system errors."""

from __future__ import annotations

import os
import stat
import sys
from _thread import get_ident

from execplan.core import trace
from execplan.core.errors import ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

_MAX_ATTEMPTS = 100


def read(path: str, limit: int) -> tuple[bytes, int]:
    """Return the bytes and the size of a regular file, without bytes if it exceeds the limit; raises ExecplanError."""
    trace.log(f"read {path}")
    try:
        return read_from(open_regular(path), limit)
    except OSError as error:
        raise file_error(error, path, "read") from None


def read_if_exists(path: str, limit: int) -> bytes | None:
    """Return the bytes of a regular file, none if it exceeds the limit, or None if there is no file.

    Raises ExecplanError.
    """
    return read(path, limit)[0] if os.path.lexists(path) else None


def read_from(handle: int, limit: int) -> tuple[bytes, int]:
    """Return the bytes and the size of an open file like `read`, and close it; raises OSError."""
    try:
        size = os.fstat(handle).st_size
        if size > limit:
            return b"", size
        with open(handle, "rb", buffering=0, closefd=False) as file:
            data = file.read(limit + 1) if size else b""
        return data, max(size, len(data))
    finally:
        os.close(handle)


def read_with_status(path: str, limit: int) -> tuple[bytes, int, os.stat_result | None]:
    """Return the bytes, size and status of a regular file; raises ExecplanError.

    The bytes are empty for a file above the limit. The status is None if the file changed meanwhile.
    """
    trace.log(f"read {path}")
    handle, size = open_file(path)
    try:
        before = os.fstat(handle)
        with open(handle, "rb", buffering=0, closefd=False) as file:
            data = file.read(limit + 1) if 0 < size <= limit else b""
        after = os.fstat(handle)
    except OSError as error:
        raise file_error(error, path, "read") from None
    finally:
        os.close(handle)
    is_unchanged = before.st_mtime_ns == after.st_mtime_ns and before.st_ctime_ns == after.st_ctime_ns
    return data, max(size, len(data)), after if is_unchanged and after.st_size == len(data) else None


def open_file(path: str) -> tuple[int, int]:
    """Open a regular file for reading and return its handle and size; raises ExecplanError."""
    try:
        handle = open_regular(path)
    except OSError as error:
        raise file_error(error, path, "read") from None
    return handle, os.fstat(handle).st_size


NO_FOLLOW: Final[int] = getattr(os, "O_NOFOLLOW", 0)
"""The flag that makes opening a symbolic link fail; Windows has none of these flags."""
_NO_WAIT: Final[int] = getattr(os, "O_NONBLOCK", 0)


class NotRegularError(OSError):
    """A path leads to a directory, a pipe, a socket or a device instead of a file."""

    def __init__(self, path: str, file_type: str) -> None:
        import errno

        super().__init__(errno.EINVAL, f"{file_type}, not a regular file", path)


def open_regular(path: str, flags: int = os.O_RDONLY, mode: int = 0o666, *, dir_fd: int | None = None) -> int:
    """Open a regular file and return its handle; every file that the program did not create is opened here.

    Opening a pipe waits for a process at its other end, and reading a device may never end, so both are errors at once.
    Raises OSError.
    """
    try:
        handle = os.open(path, flags | _NO_WAIT, mode, dir_fd=dir_fd)
    except OSError as error:
        import errno

        if error.errno == errno.EISDIR:
            raise NotRegularError(path, "a directory") from None
        if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
            raise NotRegularError(path, "a pipe, a socket or a device") from None
        raise
    file_mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(file_mode):
        os.close(handle)
        raise NotRegularError(path, "a directory" if stat.S_ISDIR(file_mode) else "a pipe, a socket or a device")
    return handle


def is_own(status: os.stat_result) -> bool:
    """Return whether a file is this user's own; Windows has no such number, and protects users' directories itself."""
    return sys.platform == "win32" or status.st_uid == os.geteuid()


def read_up_to(handle: int, limit: int) -> bytes:
    """Read at most `limit` bytes of an open file; raises OSError."""
    chunks = []
    while limit > 0 and (chunk := os.read(handle, min(limit, 1 << 20))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


def read_at(handle: int, limit: int, offset: int) -> bytes:
    """Read at most `limit` bytes of an open file from an offset; raises OSError."""
    if sys.platform == "win32":
        os.lseek(handle, offset, os.SEEK_SET)
        return os.read(handle, limit)
    return os.pread(handle, limit, offset)


def read_start(path: str, limit: int) -> bytes:
    """Read at most `limit` bytes from the start of a regular file, which is no symbolic link; raises OSError."""
    handle = open_regular(path, os.O_RDONLY | NO_FOLLOW)
    try:
        return read_up_to(handle, limit)
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write all bytes to an open file; raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view[: 1 << 20]) :]


def sync_path(path: str, *, together: bool = False) -> None:
    """Flush a file or a directory to disk, `together` with others in a `SyncGroup`; raises OSError."""
    if sys.platform == "win32" and os.path.isdir(path):
        return  # it can't be opened
    handle = os.open(path, (os.O_RDWR if sys.platform == "win32" else os.O_RDONLY) | _NO_WAIT)
    try:
        sync(handle) if together else os.fsync(handle)
    finally:
        os.close(handle)


sync_later: dict[int, Callable[[int], None]] = {}
"""For each thread with a `SyncGroup`, how it takes what is to be synced."""


def sync(handle: int) -> None:
    """Flush an open file or directory to disk, or leave that to the `SyncGroup` of this thread; raises OSError."""
    sync_later.get(get_ident(), os.fsync)(handle)


def remove_if_exists(path: str) -> None:
    """Remove a file if it exists; raises OSError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def resolve_path(path: str) -> str:
    """Return the real path after resolving all links; raises FileChangedError if directories on it keep changing."""
    for _ in range(_MAX_ATTEMPTS):
        try:
            return os.path.realpath(path)
        except (FileNotFoundError, NotADirectoryError):
            continue  # a link disappeared between the check and the read
        except OSError as error:
            import errno

            if error.errno != errno.EINVAL:  # EINVAL: it is no longer a link
                raise
    raise FileChangedError(path)


class FileChangedError(ExecplanError):
    """The content or the location of a file has changed since it was read."""

    def __init__(self, path: str) -> None:
        conflict = conflict_error(path)
        super().__init__(conflict.code, conflict.message, hint=conflict.hint)


def list_names(directory: str) -> list[str]:
    """Return the sorted names in a directory; none if it is missing or can't be read."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def read_failure(error: ExecplanError, path: str) -> str:
    """Return why a file can't be read, without its path, for output that shows the path elsewhere."""
    return error.message.removeprefix(f"can't read {path}: ")


def file_error(error: OSError, path: str, action: str) -> ExecplanError:
    """Convert an operating system error to an ExecplanError."""
    import errno

    if isinstance(error, NotRegularError):
        not_file_message = f"can't {action} {path}: it is {error.strerror}"
        return ExecplanError("not-a-file", not_file_message, hint="specify a regular file")
    reason = os.strerror(error.errno) if error.errno else str(error)
    message = f"can't {action} {path}: {reason.lower()}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EISDIR):
        return ExecplanError("no-such-file", message, hint="check the path")
    hint = {
        errno.ENOSPC: "free some space; nothing was changed",
        errno.EACCES: "check the permissions; nothing was changed",
        errno.EROFS: "the file system is read-only; nothing was changed",
    }.get(error.errno or 0, "nothing was changed")
    return ExecplanError("io-error", message, hint=hint)


def conflict_error(path: str) -> ExecplanError:
    """Return the error for an edit of a file that changes on every attempt."""
    return ExecplanError("changed-underneath", f"{path} kept changing while it was edited", hint="try again")
