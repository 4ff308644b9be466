"""Exclusive file locks with a timeout."""

from __future__ import annotations

import os
import sys

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import NO_FOLLOW, file_error, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

DEFAULT_TIMEOUT = 10.0
"""Default lock timeout in seconds."""

_timeouts = [DEFAULT_TIMEOUT]


def set_timeout(seconds: float) -> None:
    """Set the timeout of all locks requested from now on, including those of Git."""
    _timeouts.append(seconds)


def timeout() -> float:
    """Return the lock timeout in seconds."""
    return _timeouts[-1]


_LOCKED_BYTE = 1 << 30
"""Windows locks bytes, also for readers: one that is after the holder's description."""
_HOLDER_VARIABLES = ("EXECPLAN_AGENT", "EXECPLAN_AUTHOR", "LOGNAME", "USER")
"""Environment variables that may name the lock holder."""


class FileLock:
    """An exclusive lock on a permanent file; the kernel releases it when the holder is killed."""

    def __init__(self, path: str, holder: str) -> None:
        self.path = path
        self.holder = holder
        """Description of the holder for other writers: the command and the plan."""
        self._handle = -1

    def __enter__(self) -> FileLock:
        from time import gmtime, strftime

        try:
            handle = open_regular(self.path, os.O_RDWR | os.O_CREAT | NO_FOLLOW)
        except OSError as error:
            raise file_error(error, self.path, "lock") from None
        if not _try_lock(handle, self.path) and not _wait_for_lock(handle, self.path):
            current_holder = read_holder(self.path)
            raise ExecplanError(
                "busy",
                f"another execplan process is running: {current_holder or 'unknown'}; waited {timeout():g} s",
                hint="try again when it has ended, or wait longer with --lock-timeout",
            )
        trace.log(f"locked {self.path} for {self.holder}")
        name = next(filter(None, map(os.environ.get, _HOLDER_VARIABLES)), None)
        holder_suffix = f" by {' '.join(name.split())}" if name else ""
        line = f"{self.holder}{holder_suffix}, pid {os.getpid()}, since {strftime('%Y-%m-%d %H:%M:%SZ', gmtime())}\n"
        try:
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, line.encode("utf-8", "backslashreplace"))
        except OSError as error:
            os.close(handle)
            raise file_error(error, self.path, "lock") from None
        self._handle = handle
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._handle)


def is_held(path: str) -> bool:
    """Return whether a process now holds the lock of a file; raises ExecplanError."""
    try:
        handle = open_regular(path, os.O_RDWR | NO_FOLLOW)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise file_error(error, path, "lock") from None
    is_free = _try_lock(handle, path, shared=True)
    os.close(handle)
    return not is_free


def read_holder(path: str) -> str:
    """Return the description that the current or the last lock holder wrote; empty if it can't be read."""
    try:
        with open(open_regular(path), "rb") as file:
            return file.read(500).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def lock(handle: int, *, waits: bool, shared: bool = False) -> None:
    """Lock an open file; raises BlockingIOError if it is locked, unless this waits, and OSError if it can't be locked."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if not waits:
                    raise BlockingIOError(error.errno, "locked") from None
            else:
                return
    else:
        import fcntl

        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if waits else fcntl.LOCK_NB))


def _try_lock(handle: int, path: str, *, shared: bool = False) -> bool:
    """Take the lock if it is free and return whether it was; raises ExecplanError if the file system has no locks."""
    try:
        lock(handle, waits=False, shared=shared)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(handle)
        raise _no_locks_error(error, path) from None
    return True


def _wait_for_lock(handle: int, path: str) -> bool:
    """Wait for the lock and return whether it was acquired in time; if not, give up the handle. Raises ExecplanError.

    A thread waits in the kernel, which serves waiters in order; with retries instead, some of sixteen processes starve.
    """
    import _thread

    state_lock, done_lock = _thread.allocate_lock(), _thread.allocate_lock()
    done_lock.acquire()
    outcome: list[OSError | None] = []
    given_up: list[bool] = []

    def wait_in_thread() -> None:
        failure = None
        try:
            lock(handle, waits=True)
        except OSError as error:
            failure = error
        with state_lock:
            outcome.append(failure)
            if given_up or failure:
                os.close(handle)
        done_lock.release()

    _thread.start_new_thread(wait_in_thread, ())
    try:
        done_lock.acquire(timeout=min(timeout(), _thread.TIMEOUT_MAX))
    except BaseException:
        with state_lock:
            given_up.append(True)
            if outcome == [None]:
                os.close(handle)
        raise
    with state_lock:
        given_up.append(True)
        if not outcome:
            return False
    if outcome[0] is not None:
        raise _no_locks_error(outcome[0], path)
    return True


def _no_locks_error(error: OSError, path: str) -> ExecplanError:
    """Return the error for a file that can't be locked at all: some network file systems have no locks."""
    return ExecplanError(
        "no-locks",
        f"the file system can't lock {path}: {os.strerror(error.errno or 0).lower()}; nothing was changed",
        hint="without locks, writers would lose each other's edits: move the checkout to a local disk",
    )
