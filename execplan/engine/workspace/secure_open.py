"""Opening of a directory below another one, following no links: in one kernel call if possible, else step by step."""

from __future__ import annotations

import errno
import os
import stat
import sys
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
WALK: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENAT2 = 437
"""Number of the system call openat2(2) on every architecture but Alpha."""
_RESOLVE = 0x02 | 0x04 | 0x08
"""Flags RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH."""
_UNABLE = (errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG, errno.EAGAIN, errno.ENAMETOOLONG, errno.ENOTDIR)
"""Errors after which the directory is opened step by step.

They mean an older kernel, a filter that does not know the call, directories that are being moved, a long path, or
something that is not a directory, which the steps identify.
"""


def open_folder(root: int, path: str, flags: int = FOLDER) -> int:
    """Open a directory below an open one by its normalized path and return the handle. Raises OSError."""
    if sys.platform == "linux":
        handle = _open_with_openat2(root, path, flags)
        if handle is not None:
            return handle
    return open_stepwise(root, path, flags)


def open_stepwise(root: int, path: str, flags: int = FOLDER) -> int:
    """Open a directory like `open_folder`, one directory after the other. Raises OSError."""
    parts = path.split("/")
    handle = root
    for number, name in enumerate(parts, 1):
        try:
            child_handle = os.open(name, flags if number == len(parts) else WALK, dir_fd=handle)
        except NotADirectoryError:
            if stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
            raise
        finally:
            if handle != root:
                os.close(handle)
        handle = child_handle
    return handle


def make_folders(root: int, path: str, created: list[str]) -> int:
    """Open a directory like `open_stepwise`, but create missing ones and append them to `created`. Raises OSError."""
    handle, so_far = root, ""
    for name in path.split("/"):
        so_far = f"{so_far}/{name}".lstrip("/")
        try:
            try:
                os.mkdir(name, dir_fd=handle)
                created.append(so_far)
                os.fsync(handle)
            except FileExistsError:
                pass
            child_handle = open_stepwise(handle, name)
        finally:
            if handle != root:
                os.close(handle)
        handle = child_handle
    return handle


def _open_with_openat2(root: int, path: str, flags: int) -> int | None:
    """Open a directory with openat2; None if the call is unavailable. Raises OSError."""
    import ctypes

    handle = _openat2()(root, os.fsencode(path), flags)
    if handle >= 0:
        return handle
    error_number = ctypes.get_errno()
    if error_number in _UNABLE:
        return None
    raise OSError(error_number, os.strerror(error_number), path)


@cache
def _openat2() -> Callable[[int, bytes, int], int]:
    """Return a function that makes the system call with the flags in `_RESOLVE`."""
    import ctypes

    class OpenHow(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    number, size = ctypes.c_long(_OPENAT2), ctypes.c_size_t(ctypes.sizeof(OpenHow))

    def openat2(root: int, path: bytes, flags: int) -> int:
        return int(call(number, ctypes.c_int(root), path, ctypes.byref(OpenHow(flags, 0, _RESOLVE)), size))

    return openat2
