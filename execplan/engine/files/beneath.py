"""A folder opened beneath another one, through no link: by the kernel in one step where it can, else folder by folder."""

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
"""The number of openat2(2) on every machine but Alpha."""
_RESOLVE = 0x02 | 0x04 | 0x08
"""RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH."""
_UNABLE = (errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG, errno.EAGAIN, errno.ENAMETOOLONG, errno.ENOTDIR)
"""An older kernel, a filter that does not know the call, folders that change places, a long way, something that is no folder,
of which the walk sees what it is: then it is walked."""


def open_folder(root: int, path: str, flags: int = FOLDER) -> int:
    """The handle of a folder beneath an open one, `path` in its plain form; raises OSError."""
    if sys.platform == "linux":
        found = _in_one_step(root, path, flags)
        if found is not None:
            return found
    return walk(root, path, flags)


def walk(root: int, path: str, flags: int = FOLDER) -> int:
    """As `open_folder`, one folder after the other; raises OSError."""
    parts = path.split("/")
    at = root
    for number, part in enumerate(parts, 1):
        try:
            inner = os.open(part, flags if number == len(parts) else WALK, dir_fd=at)
        except NotADirectoryError:
            if stat.S_ISLNK(os.stat(part, dir_fd=at, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
            raise
        finally:
            if at != root:
                os.close(at)
        at = inner
    return at


def make_folders(root: int, path: str, made: list[str]) -> int:
    """As `walk`, with the folders made that are missing; `made` is told which. Raises OSError."""
    at, so_far = root, ""
    for part in path.split("/"):
        so_far = f"{so_far}/{part}".lstrip("/")
        try:
            try:
                os.mkdir(part, dir_fd=at)
                made.append(so_far)
                os.fsync(at)
            except FileExistsError:
                pass
            inner = walk(at, part)
        finally:
            if at != root:
                os.close(at)
        at = inner
    return at


def _in_one_step(root: int, path: str, flags: int) -> int | None:
    """The handle by openat2; None where that can't be asked. Raises OSError."""
    import ctypes

    handle = _openat2()(root, os.fsencode(path), flags)
    if handle >= 0:
        return handle
    trouble = ctypes.get_errno()
    if trouble in _UNABLE:
        return None
    raise OSError(trouble, os.strerror(trouble), path)


@cache
def _openat2() -> Callable[[int, bytes, int], int]:
    """The system call, with what it is to resolve."""
    import ctypes

    class How(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    number, size = ctypes.c_long(_OPENAT2), ctypes.c_size_t(ctypes.sizeof(How))

    def openat2(root: int, path: bytes, flags: int) -> int:
        return int(call(number, ctypes.c_int(root), path, ctypes.byref(How(flags, 0, _RESOLVE)), size))

    return openat2
