"""Opening of a directory below another one, following no links: in one kernel call if possible, else step by step."""

from __future__ import annotations

import errno
import os
import stat
import sys

from execplan.core.files import file_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

_DIRECTORY: Final[int] = getattr(os, "O_DIRECTORY", 0)
LIST_FLAGS: Final = os.O_RDONLY | _DIRECTORY | file_access.NO_FOLLOW
WALK_FLAGS: Final = getattr(os, "O_PATH", os.O_RDONLY) | _DIRECTORY | file_access.NO_FOLLOW
NO_HANDLE: Final = -1
"""What stands for the handle of a directory on Windows."""
_OPENAT2 = 437
"""Number of the system call openat2(2) on every architecture but Alpha."""
_RESOLVE = 0x02 | 0x04 | 0x08
"""Flags RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH."""
_UNABLE = (errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG, errno.EAGAIN, errno.ENAMETOOLONG, errno.ENOTDIR)
"""Errors after which the directory is opened step by step.

They mean an older kernel, a filter that does not know the call, directories that are being moved, a long path, or
something that is not a directory, which the steps identify.
"""
_prepared_calls: list[Callable[[int, bytes, int], int]] = []
"""The call of openat2, once it was prepared; `functools.cache` would load `functools`, which the guard must not."""


def open_below(root: str, path: str, flags: int = LIST_FLAGS, created: list[str] | None = None) -> int:
    """Open a directory by its normalized path below another one, which may be a link; return the handle.

    Missing directories are created if `created` is given, and appended to it. Raises OSError.
    """
    try:
        handle = _open_with_openat2(root, path, flags) if sys.platform == "linux" else None
    except FileNotFoundError:
        if created is None:
            raise
        handle = None
    return handle if handle is not None else open_stepwise(root, path, flags, created)


def open_stepwise(root: str, path: str, flags: int = LIST_FLAGS, created: list[str] | None = None) -> int:
    """Open a directory like `open_below`, one directory after the other, which takes no import.

    Raises OSError with the path of the directory that could not be opened. On Windows, which opens no directories,
    returns `NO_HANDLE` if the directory exists.
    """
    if sys.platform == "win32":
        return _find_directory(root, path, created)
    handle = os.open(root, WALK_FLAGS & ~file_access.NO_FOLLOW)
    names = path.split("/")
    for number, name in enumerate(names, 1):
        child_flags = flags if number == len(names) else WALK_FLAGS
        try:
            try:
                child_handle = _open_child(handle, name, child_flags)
            except FileNotFoundError:
                if created is None:
                    raise
                _make_directory(handle, name, "/".join(names[:number]), created)
                child_handle = _open_child(handle, name, child_flags)
        except OSError as error:
            error.filename = "/".join(names[:number])
            raise
        finally:
            os.close(handle)
        handle = child_handle
    return handle


def _find_directory(root: str, path: str, created: list[str] | None) -> int:
    """Return `NO_HANDLE` for a directory, which is created like by `open_stepwise`; raises OSError."""
    if created is not None:
        for parent in [path[:end] for end, char in enumerate(f"{path}/") if char == "/"]:
            if not os.path.lexists(root + parent):
                os.makedirs(root + parent, exist_ok=True)
                created.append(parent)
    if not os.path.isdir(root + path):
        code = errno.ENOTDIR if os.path.lexists(root + path) else errno.ENOENT
        raise OSError(code, os.strerror(code), path)
    return NO_HANDLE


def _open_child(handle: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=handle)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise


def _make_directory(handle: int, name: str, path: str, created: list[str]) -> None:
    """Create a directory unless it exists by now, and sync its parent as far as that can be read."""
    try:
        os.mkdir(name, dir_fd=handle)
    except FileExistsError:
        return
    created.append(path)
    try:
        readable_handle = os.open(".", LIST_FLAGS, dir_fd=handle)
    except PermissionError:
        return
    try:
        file_access.sync(readable_handle)
    finally:
        os.close(readable_handle)


def _open_with_openat2(root: str, path: str, flags: int) -> int | None:
    """Open a directory with openat2; None if the call is unavailable. Raises OSError."""
    import ctypes

    root_handle = os.open(root, WALK_FLAGS & ~file_access.NO_FOLLOW)
    try:
        handle = _prepare_openat2()(root_handle, os.fsencode(path), flags)
    finally:
        os.close(root_handle)
    if handle >= 0:
        return handle
    error_number = ctypes.get_errno()
    if error_number in _UNABLE:
        return None
    raise OSError(error_number, os.strerror(error_number), path)


def _prepare_openat2() -> Callable[[int, bytes, int], int]:
    """Return a function that makes the system call with the flags in `_RESOLVE`."""
    if _prepared_calls:
        return _prepared_calls[0]
    import ctypes

    class OpenHow(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    number, size = ctypes.c_long(_OPENAT2), ctypes.c_size_t(ctypes.sizeof(OpenHow))

    def openat2(root: int, path: bytes, flags: int) -> int:
        return int(call(number, ctypes.c_int(root), path, ctypes.byref(OpenHow(flags, 0, _RESOLVE)), size))

    _prepared_calls.append(openat2)
    return openat2
