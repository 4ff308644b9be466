"""Files: read whole within a limit, locked, and replaced so that a reader sees the old bytes or the new ones."""

from __future__ import annotations

import os
import stat

from execplan import trace
from execplan.errors import BUSY, CHANGED, ENVIRONMENT, INPUT, ExecplanError
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import TypeVar

    T = TypeVar("T")

_TRIES = 5
LOCK_TIMEOUT = 10.0
"""Seconds that a writer waits for another."""


def read(path: str, limit: int) -> tuple[bytes, int]:
    """The bytes of a regular file, and its size; of a file above the limit no byte is read. Raises ExecplanError."""
    trace.tell(f"read {path}")
    handle, size = open_file(path)
    try:
        if size > limit:
            return b"", size
        with open(handle, "rb", buffering=0, closefd=False) as file:
            data = file.read(limit + 1) if size else b""
        return data, max(size, len(data))
    except OSError as error:
        raise trouble(error, path, "read") from None
    finally:
        os.close(handle)


def read_still(path: str, limit: int) -> tuple[bytes, int, os.stat_result | None]:
    """As `read` does, and what the file's status was, None when it changed meanwhile; raises ExecplanError."""
    trace.tell(f"read {path}")
    handle, size = open_file(path)
    try:
        before = os.fstat(handle)
        with open(handle, "rb", buffering=0, closefd=False) as file:
            data = file.read(limit + 1) if 0 < size <= limit else b""
        after = os.fstat(handle)
    except OSError as error:
        raise trouble(error, path, "read") from None
    finally:
        os.close(handle)
    still = before.st_mtime_ns == after.st_mtime_ns and before.st_ctime_ns == after.st_ctime_ns
    return data, max(size, len(data)), after if still and after.st_size == len(data) else None


def open_file(path: str) -> tuple[int, int]:
    """The handle of a regular file, for reading, and its size; a pipe or a device is refused at once.

    Raises ExecplanError.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        import errno

        if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
            raise _not_a_file(path, "no regular file") from None
        raise trouble(error, path, "read") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise _not_a_file(path, "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file")
    return handle, status.st_size


class Lock:
    """An exclusive lock on a file that stays: `flock`, so that a killed holder leaves nothing behind."""

    def __init__(self, path: str, holder: str, timeout: float = LOCK_TIMEOUT) -> None:
        self.path = path
        self.holder = holder
        """What others are told while it is held: the verb and the plan."""
        self.timeout = timeout
        self._handle = -1

    def __enter__(self) -> Lock:
        import fcntl
        from time import monotonic, sleep, strftime

        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise trouble(error, self.path, "lock") from None
        until = monotonic() + self.timeout
        pause = 0.002
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() >= until:
                    held = os.pread(handle, 500, 0).decode("utf-8", "replace").strip()
                    os.close(handle)
                    raise ExecplanError(
                        "busy",
                        f"another execplan is at work: {held or 'unknown'}; waited {self.timeout:g} s",
                        exit=BUSY,
                        hint="try again when it has finished; one that has died holds nothing",
                    ) from None
                sleep(pause)
                pause = min(pause * 1.5, 0.05)
            except OSError as error:
                os.close(handle)
                raise _no_locks(error, self.path) from None
        trace.tell(f"locked {self.path} for {self.holder}")
        os.ftruncate(handle, 0)
        os.pwrite(
            handle,
            f"{self.holder}, pid {os.getpid()}, since {strftime('%H:%M:%S')}\n".encode("utf-8", "backslashreplace"),
            0,
        )
        self._handle = handle
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)


class ChangedMeanwhileError(Exception):
    """The file no longer holds what was read from it."""


def replace(path: str, old: bytes, new: bytes) -> bool:
    """Put new bytes in place of the old ones, mode kept, links followed; on any failure the old bytes stay.

    True when the file had other hard links, which keep the old bytes. The caller holds a lock. Raises
    ChangedMeanwhileError when the file no longer holds the old bytes, ExecplanError for all else.
    """
    target = os.path.realpath(path)
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except OSError as error:
        raise trouble(error, path, "write") from None
    if not mode & 0o222:
        raise _read_only(path)
    temporary = _write_beside(target, new, mode, path)
    try:
        if read(target, len(old) + 1)[0] != old:
            raise ChangedMeanwhileError
        linked = os.stat(target).st_nlink > 1  # by now without the leftover of a `create` that was killed
        os.replace(temporary, target)
        trace.tell(f"replaced {target}")
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise trouble(error, path, "write") from None
        raise
    sync_folder(os.path.dirname(target))
    return linked


def again(work: Callable[[], T], shown: str) -> T:
    """Do what reads a file and replaces it, anew when the file was changed between the two; raises ExecplanError."""
    for _ in range(_TRIES):
        try:
            return work()
        except ChangedMeanwhileError:
            continue
    raise changed_underneath(shown)


def still_linked(shown: str) -> str:
    """What to warn of when a file was replaced that had other hard links."""
    return f"{shown} had other hard links: they keep the old text"


def create(path: str, data: bytes, *, executable: bool = False) -> bool:
    """Write a new file; False, with nothing written, when the name is taken. The caller holds a lock."""
    temporary = _write_beside(path, data, None, path, 0o777 if executable else 0o666)
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        raise trouble(error, path, "write") from None
    finally:
        os.unlink(temporary)
    sync_folder(os.path.dirname(path))
    return True


def remove(path: str, old: bytes) -> int:
    """Remove a file and give its mode; raises ChangedMeanwhileError when it does not hold the old bytes.

    A link is kept, what it leads to is removed. The caller holds a lock.
    """
    target = os.path.realpath(path)
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
        if not mode & 0o222:
            raise _read_only(path)
        if read(target, len(old) + 1)[0] != old:
            raise ChangedMeanwhileError
        os.unlink(target)
    except OSError as error:
        raise trouble(error, path, "remove") from None
    trace.tell(f"removed {target}")
    sync_folder(os.path.dirname(target))
    return mode


def sync_folder(folder: str) -> None:
    """Make a rename in the folder last."""
    handle = os.open(folder or ".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(path: str) -> bool:
    """Make a folder and those above it; False when it is there already."""
    if os.path.isdir(path):
        return False
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise trouble(error, path, "make") from None
    return True


def remove_empty(path: str) -> None:
    """Remove a folder if it holds nothing."""
    try:
        os.rmdir(path)
    except OSError:
        pass


def trouble(error: OSError, path: str, doing: str) -> ExecplanError:
    """The refusal that an error of the operating system comes to."""
    import errno

    why = os.strerror(error.errno) if error.errno else str(error)
    message = f"can't {doing} {path}: {why.lower()}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EISDIR):
        return ExecplanError("no-such-file", message, exit=INPUT, hint="check the path")
    hint = {
        errno.ENOSPC: "free some space; nothing was changed",
        errno.EACCES: "check who may write there; nothing was changed",
        errno.EROFS: "the file system is read-only; nothing was changed",
    }.get(error.errno or 0, "nothing was changed")
    return ExecplanError("io-error", message, exit=ENVIRONMENT, hint=hint)


def _no_locks(error: OSError, path: str) -> ExecplanError:
    """The refusal of a lock for another reason than that somebody holds it: some network file systems know none."""
    return ExecplanError(
        "no-locks",
        f"the file system can't lock {path}: {os.strerror(error.errno or 0).lower()}; nothing was changed",
        exit=ENVIRONMENT,
        hint="without locks writers would lose each other's edits: put the checkout on a local disk",
    )


def _not_a_file(path: str, what: str) -> ExecplanError:
    return ExecplanError("not-a-file", f"{path} is {what}", exit=INPUT, hint="name a regular file")


def changed_underneath(path: str) -> ExecplanError:
    """The refusal of an edit whose file would not hold still."""
    return ExecplanError(
        "changed-underneath", f"{path} kept changing while it was edited", exit=CHANGED, hint="try again"
    )


def _read_only(path: str) -> ExecplanError:
    return ExecplanError("read-only", f"{path} is read-only", exit=ENVIRONMENT, hint=f"chmod u+w {path}")


def _write_beside(target: str, data: bytes, mode: int | None, shown: str, default: int = 0o666) -> str:
    """A temporary file with the bytes, on disk, in the folder of the target."""
    # One name for each target: a leftover of a writer that was killed is replaced by the next one, under the same lock.
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".execplan-{digest(os.fsencode(name))[:16]}.tmp")
    handle = -1
    try:
        try:
            os.unlink(temporary)
        except FileNotFoundError:
            pass
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, default)
        if mode is not None:
            os.fchmod(handle, mode)
        for begin in range(0, len(data), 1 << 20):
            part = data[begin : begin + (1 << 20)]
            while part:
                part = part[os.write(handle, part) :]
        if os.fstat(handle).st_size != len(data):
            raise OSError(0, "short write")
        os.fsync(handle)
    except BaseException as error:
        if handle >= 0:
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise trouble(error, shown, "write") from None
        raise
    finally:
        if handle >= 0:
            os.close(handle)
    return temporary
