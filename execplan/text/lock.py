"""Exclusive locks that wait their turn, for so long."""

from __future__ import annotations

import os

from execplan import trace
from execplan.errors import BUSY, ENVIRONMENT, ExecplanError
from execplan.text.disk import open_regular, trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

TIMEOUT = 10.0
"""Seconds that a writer waits for another, unless told."""

_timeouts = [TIMEOUT]


def set_timeout(seconds: float) -> None:
    """Let every lock that is asked for from now on, git's too, be waited for so long."""
    _timeouts.append(seconds)


def timeout() -> float:
    """Seconds for which a lock is waited for."""
    return _timeouts[-1]


_NAMES = ("EXECPLAN_AGENT", "EXECPLAN_AUTHOR", "LOGNAME", "USER")
"""Variables that may name who holds a lock."""


class Lock:
    """An exclusive lock on a file that stays: `flock`, so that a killed holder leaves nothing behind."""

    def __init__(self, path: str, holder: str) -> None:
        self.path = path
        self.holder = holder
        """What others are told while it is held: the verb and the plan."""
        self._handle = -1

    def __enter__(self) -> Lock:
        from time import gmtime, strftime

        try:
            handle = open_regular(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        except OSError as error:
            raise trouble(error, self.path, "lock") from None
        if not _had(handle, self.path) and not _waited(handle, self.path):
            held = holder(self.path)
            raise ExecplanError(
                "busy",
                f"another execplan is at work: {held or 'unknown'}; waited {timeout():g} s",
                exit=BUSY,
                hint="try again when it has finished, or wait longer with --lock-timeout; one that has died holds nothing",
            )
        trace.tell(f"locked {self.path} for {self.holder}")
        name = next(filter(None, map(os.environ.get, _NAMES)), None)
        by = f" by {' '.join(name.split())}" if name else ""
        line = f"{self.holder}{by}, pid {os.getpid()}, since {strftime('%Y-%m-%d %H:%M:%SZ', gmtime())}\n"
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, line.encode("utf-8", "backslashreplace"), 0)
        except OSError as error:
            os.close(handle)
            raise trouble(error, self.path, "lock") from None
        self._handle = handle
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)


def is_held(path: str) -> bool:
    """Whether somebody holds the lock of a file now; raises ExecplanError."""
    try:
        handle = open_regular(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise trouble(error, path, "lock") from None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        raise _no_locks(error, path) from None
    finally:
        os.close(handle)
    return False


def holder(path: str) -> str:
    """What the holder of a lock has said of itself, or the last one has."""
    try:
        with open(open_regular(path), "rb") as file:
            return file.read(500).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _had(handle: int, path: str) -> bool:
    """Whether the lock was free, and is had now; raises ExecplanError where there are no locks."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(handle)
        raise _no_locks(error, path) from None
    return True


def _waited(handle: int, path: str) -> bool:
    """Whether the lock is had in time; else the handle is given up. Raises ExecplanError.

    A thread waits in the kernel, where who came first is first: of sixteen that ask again and again, some starve.
    """
    import _thread
    import fcntl

    both, turn = _thread.allocate_lock(), _thread.allocate_lock()
    turn.acquire()
    state: list[OSError | None] = []
    left: list[bool] = []

    def wait() -> None:
        failed = None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            failed = error
        with both:
            state.append(failed)
            if left or failed:
                os.close(handle)
        turn.release()

    _thread.start_new_thread(wait, ())
    try:
        turn.acquire(timeout=min(timeout(), _thread.TIMEOUT_MAX))
    except BaseException:
        with both:
            left.append(True)
            if state == [None]:
                os.close(handle)
        raise
    with both:
        left.append(True)
        if not state:
            return False
    if state[0] is not None:
        raise _no_locks(state[0], path)
    return True


def _no_locks(error: OSError, path: str) -> ExecplanError:
    """The refusal of a lock for another reason than that somebody holds it: some network file systems know none."""
    return ExecplanError(
        "no-locks",
        f"the file system can't lock {path}: {os.strerror(error.errno or 0).lower()}; nothing was changed",
        exit=ENVIRONMENT,
        hint="without locks writers would lose each other's edits: put the checkout on a local disk",
    )
