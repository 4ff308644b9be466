"""A folder held open: what is done in it is done there, whatever its path leads to by now."""

from __future__ import annotations

import errno
import os
import stat
import sys

from execplan.text.disk import ChangedMeanwhileError, NotRegularError, open_regular, real, trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_WALK = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2(2), and RENAME_SWAP of macOS's renameatx_np(2)."""
_NO_REPLACE = 4 if sys.platform == "darwin" else 1
"""RENAME_NOREPLACE, and RENAME_EXCL."""
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY)


class Folder:
    """A folder that is reached step by step, through no link, so that none can be swapped in on the way."""

    def __init__(self, path: str, *, within: str | None = None, make: bool = False) -> None:
        """Open it; a path that leads out of `within` has changed since it was checked.

        Raises ChangedMeanwhileError, and ExecplanError where it can't be opened or made.
        """
        self.path = real(path)
        if within is not None and not f"{self.path}/".startswith(within.rstrip("/") + "/"):
            raise ChangedMeanwhileError(path)
        self.made: list[str] = []
        """The folders that had to be made."""
        try:
            self.handle = self._walk(make=make)
        except BaseException:
            for made in reversed(self.made):
                try:
                    os.rmdir(made)
                except OSError:
                    break
            raise

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.handle)

    def _walk(self, *, make: bool) -> int:
        handle = os.open("/", _WALK)
        at = ""
        parts = [part for part in self.path.split("/") if part]
        for number, part in enumerate(parts, 1):
            at += f"/{part}"
            flags = _WALK if number < len(parts) else os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                inner = self._step(handle, part, flags, at, make=make)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise ChangedMeanwhileError(at) from None
                raise trouble(error, at, "make" if make and error.errno != errno.EACCES else "write to") from None
            finally:
                os.close(handle)
            handle = inner
        return handle

    def _step(self, above: int, part: str, flags: int, path: str, *, make: bool) -> int:
        try:
            return os.open(part, flags, dir_fd=above)
        except FileNotFoundError:
            if not make:
                raise
        try:
            os.mkdir(part, dir_fd=above)
            self.made.append(path)
        except FileExistsError:
            pass
        return os.open(part, flags, dir_fd=above)

    def join(self, name: str) -> str:
        """The path of what has the name."""
        return os.path.join(self.path, name)

    def status(self, name: str) -> os.stat_result | None:
        """What is known of a file, a link not followed; None when there is none."""
        try:
            return os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a regular file, at most so many; none where there is none. Raises OSError."""
        try:
            handle = open_regular(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.handle)
        except NotRegularError:
            return b""
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                return b""
            raise
        try:
            return _whole(handle, limit)
        finally:
            os.close(handle)

    def write(self, name: str, data: bytes, mode: int, like: os.stat_result | None = None) -> None:
        """Write a file that is new, and have it on disk; with the mode and the owner of another if given.

        Raises OSError, with no file left.
        """
        handle = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=self.handle
        )
        try:
            if like is not None:
                _take_after(handle, like)
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

    def exchange(self, one: str, two: str) -> bool:
        """Let two files change their names in one step; False where the file system can't. Raises OSError."""
        return _rename(self, one, self, two, _EXCHANGE)

    def rename(self, name: str, other: Folder, new: str) -> None:
        """Rename a file, to a name that may be taken; raises OSError."""
        os.rename(name, new, src_dir_fd=self.handle, dst_dir_fd=other.handle)

    def move(self, name: str, other: Folder, new: str) -> None:
        """Rename a file or a folder, into another folder too, to a name that is free; raises OSError."""
        if not _rename(self, name, other, new, _NO_REPLACE):
            if other.status(new) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), other.join(new))
            self.rename(name, other, new)

    def link(self, name: str, new: str) -> None:
        """Give a file a second name; raises OSError."""
        os.link(name, new, src_dir_fd=self.handle, dst_dir_fd=self.handle, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Remove a file if it is there, at a second try when the first fails; raises OSError."""
        for last in (False, True):
            try:
                os.unlink(name, dir_fd=self.handle)
            except OSError:
                if self.status(name) is None:
                    return
                if last:
                    raise
            else:
                return

    def sync(self) -> None:
        """Make what was renamed in the folder last; raises OSError."""
        os.fsync(self.handle)


def _rename(one: Folder, name: str, two: Folder, other: str, how: int) -> bool:
    """Rename in a special way; False where the system or the file system can't. Raises OSError."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "renameat2", None) or getattr(libc, "renameatx_np", None)
    if call is None:
        return False
    if call(one.handle, os.fsencode(name), two.handle, os.fsencode(other), ctypes.c_uint(how)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number))


def _take_after(handle: int, like: os.stat_result) -> None:
    """Give an open file the owner and the mode of another, the owner as far as one may."""
    own = os.fstat(handle)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(handle, like.st_uid, like.st_gid)
        except PermissionError:
            pass
    os.fchmod(handle, stat.S_IMODE(like.st_mode))


def _whole(handle: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(handle, min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)
