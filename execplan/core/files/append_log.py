"""Append-only line files, which lose at most their last line when a process is killed."""

from __future__ import annotations

import errno
import os

from execplan.core.files import file_access
from execplan.core.trace import log

_TAIL_BYTES = 1 << 16


def append_lines(path: str, text: str, *, durable: bool = False) -> None:
    """Append complete lines in one write.

    Starts a new line first if a crash left the last one incomplete. With `durable`, the lines are on disk before this
    returns. Raises ExecplanError if the file can't be written.
    """
    if not text:
        return
    try:
        handle = file_access.open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            size = os.fstat(handle).st_size
            os.lseek(handle, max(size - 1, 0), os.SEEK_SET)
            is_torn = size and os.read(handle, 1) != b"\n"
            _write_all(handle, f"{chr(10) if is_torn else ''}{text}".encode(), size)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise file_access.file_error(error, path, "write") from None
    log(f"journaled {text.split(' ', 2)[0]} in {path}")


def _write_all(handle: int, data: bytes, size: int) -> None:
    """Write all bytes or none, and raise OSError if the disk is full."""
    count = os.write(handle, data)
    if count < len(data):
        os.ftruncate(handle, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_lines(path: str) -> list[str]:
    """Return the complete lines of a file. A line that a crash cut off is left out; a missing file has no lines."""
    try:
        with open(file_access.open_regular(path), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None
    return data.decode("utf-8", "replace").split("\n")[:-1]


def read_tail(path: str) -> tuple[list[str], int]:
    """Return the last lines of a file and its size. The first line is left out if its beginning may be missing."""
    try:
        handle = file_access.open_regular(path)
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None
    try:
        size = os.fstat(handle).st_size
        offset = max(size - _TAIL_BYTES, 0)
        os.lseek(handle, offset, os.SEEK_SET)
        data = os.read(handle, _TAIL_BYTES)
    finally:
        os.close(handle)
    lines = data.decode("utf-8", "replace").split("\n")[:-1]
    return lines[1:] if offset else lines, size
