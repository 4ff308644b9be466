"""Cache files: a header that says what the cache is valid for, a checksum, and data for `marshal`."""

from __future__ import annotations

import marshal
import os
from time import time_ns
from zlib import crc32

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MAX_BYTES = 1 << 28
_CHECKSUM_BYTES = 4


def read_cache(path: str, header: bytes) -> Any:
    """Return the data of a cache file; None if it is missing, damaged, or belongs to another user or header."""
    try:
        handle = file_access.open_regular(path, os.O_RDONLY | file_access.NO_FOLLOW)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            if not file_access.is_own(status) or status.st_size > _MAX_BYTES:
                return None
            content = file.read()
    except OSError:
        return None
    body_start = len(header) + _CHECKSUM_BYTES
    body = memoryview(content)[body_start:]
    if not content.startswith(header) or crc32(body) != int.from_bytes(content[len(header) : body_start], "big"):
        return None
    try:
        data = marshal.loads(body)  # noqa: S302 (our own file in the git directory, with our checksum)
    except (ValueError, EOFError, TypeError):
        return None
    trace.log(f"read {path}")
    return data


def write_cache(path: str, header: bytes, started_ns: int, make_data: Callable[[int], Any]) -> bool:
    """Write a cache file for the next run; return False if that is impossible, which is no error.

    `make_data` gets the start of the run in nanoseconds on the file system's clock, which may be slower than the
    system's: a file that was changed after it may change again with the same timestamp.
    """
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, exist_ok=True)
        os.utime(directory)  # gets the time that a file written now would get
        clock_lag = min(0, os.stat(directory).st_mtime_ns - time_ns())
        body = marshal.dumps(make_data(started_ns + clock_lag))
        content = header + crc32(body).to_bytes(_CHECKSUM_BYTES, "big") + body
        atomic_files.replace(path, content, mode=0o600, durable=False, is_locked=False)
    except (OSError, ExecplanError) as error:
        reason = error.message if isinstance(error, ExecplanError) else os.strerror(error.errno or 0).lower()
        trace.log(f"no cache in {path}: {reason}")
        return False
    trace.log(f"replaced {path}")
    return True
