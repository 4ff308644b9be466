"""Files: read whole within a limit, and what the operating system's errors come to."""

from __future__ import annotations

import os
import stat

from execplan import trace
from execplan.errors import CONFLICT, ENVIRONMENT, INPUT, ExecplanError

_MAX_ATTEMPTS = 100


def read(path: str, limit: int) -> tuple[bytes, int]:
    """The bytes of a regular file, and its size; of a file above the limit no byte is read. Raises ExecplanError."""
    trace.log(f"read {path}")
    handle, size = open_file(path)
    try:
        if size > limit:
            return b"", size
        with open(handle, "rb", buffering=0, closefd=False) as file:
            data = file.read(limit + 1) if size else b""
        return data, max(size, len(data))
    except OSError as error:
        raise file_error(error, path, "read") from None
    finally:
        os.close(handle)


def read_with_status(path: str, limit: int) -> tuple[bytes, int, os.stat_result | None]:
    """As `read` does, and what the file's status was, None when it changed meanwhile; raises ExecplanError."""
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
    """The handle of a regular file, for reading, and its size; raises ExecplanError."""
    try:
        handle = open_regular(path)
    except OSError as error:
        raise file_error(error, path, "read") from None
    return handle, os.fstat(handle).st_size


class NotRegularError(OSError):
    """There is a directory, a pipe, a socket or a device where a file is expected."""

    def __init__(self, path: str, file_type: str) -> None:
        import errno

        super().__init__(errno.EINVAL, f"not a regular file but {file_type}", path)


def open_regular(path: str, flags: int = os.O_RDONLY, mode: int = 0o666, *, dir_fd: int | None = None) -> int:
    """The handle of a regular file; all files that are not the program's own are opened here.

    Opening a pipe waits for whoever is at its other end, and reading a device may never end, so both are errors, at
    once. Raises OSError.
    """
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, mode, dir_fd=dir_fd)
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


def resolve_path(path: str) -> str:
    """Where a path leads to, through every link; raises ChangedMeanwhileError when folders on it keep changing places."""
    for _ in range(_MAX_ATTEMPTS):
        try:
            return os.path.realpath(path)
        except (FileNotFoundError, NotADirectoryError):
            continue  # what was looked at was gone when it was read
        except OSError as error:
            import errno

            if error.errno != errno.EINVAL:  # or it was no link any more
                raise
    raise FileChangedError(path)


class FileChangedError(ExecplanError):
    """The file no longer holds what was read from it, or is no longer where it was."""

    def __init__(self, path: str) -> None:
        conflict = conflict_error(path)
        super().__init__(conflict.code, conflict.message, exit=conflict.exit, hint=conflict.hint)


def file_error(error: OSError, path: str, action: str) -> ExecplanError:
    """The refusal that an error of the operating system comes to."""
    import errno

    if isinstance(error, NotRegularError):
        not_file_message = f"can't {action} {path}: it is {error.strerror}"
        return ExecplanError("not-a-file", not_file_message, exit=INPUT, hint="name a regular file, or put one there")
    reason = os.strerror(error.errno) if error.errno else str(error)
    message = f"can't {action} {path}: {reason.lower()}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EISDIR):
        return ExecplanError("no-such-file", message, exit=INPUT, hint="check the path")
    hint = {
        errno.ENOSPC: "free some space; nothing was changed",
        errno.EACCES: "check who may write there; nothing was changed",
        errno.EROFS: "the file system is read-only; nothing was changed",
    }.get(error.errno or 0, "nothing was changed")
    return ExecplanError("io-error", message, exit=ENVIRONMENT, hint=hint)


def conflict_error(path: str) -> ExecplanError:
    """The refusal of an edit whose file would not hold still."""
    return ExecplanError(
        "changed-underneath", f"{path} kept changing while it was edited", exit=CONFLICT, hint="try again"
    )
