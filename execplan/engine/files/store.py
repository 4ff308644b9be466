"""Backups by their content, in the directory that is not committed; kept for as many days as the policy says."""

from __future__ import annotations

import gzip
import os
import shutil
import time
import zlib
from contextlib import contextmanager
from hashlib import sha256

from execplan import trace
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.world import FILE
from execplan.repo import state
from execplan.text import disk
from execplan.text.disk import changed_underneath, trouble
from execplan.text.files import sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.engine.files.ground import Ground
    from execplan.execution.world import State
    from execplan.repo.home import Home

_DAY = 24 * 3600
_PART = 1 << 20
_LEVEL = 1
"""Of compression: twice the size of the best, in a tenth of its time."""
_MANY = 64
"""Files from which on one call that syncs the whole disk is the faster one."""
_TRIES = 8


class Store:
    """The backups of a home, each named by the SHA-256 of its bytes."""

    def __init__(self, home: Home, held: dict[str, str] | None = None) -> None:
        """`held`: where what waits to be synced is noted, by digest under which name; see `together`."""
        self.home = home
        self.folder = os.path.join(home.state, "backups")
        self._held = held

    def keep(self, data: bytes) -> str:
        """Keep these bytes; their SHA-256. On disk by then. Raises ExecplanError."""
        digest = sha256(data).hexdigest()
        if not self.has(digest):
            self._put((data,), digest)
        return digest

    def keep_path(self, ground: Ground, path: str) -> State:
        """What is at a path, its bytes kept if it is a file; raises ExecplanError."""
        for _ in range(_TRIES):
            found = ground.state(path)
            if found.kind != FILE or not found.sha256 or self.has(found.sha256):
                return found
            if self._put(ground.parts(path), found.sha256):
                return found
        raise changed_underneath(path)

    def has(self, digest: str) -> bool:
        """Whether the bytes are kept; if so, the days for which they are kept begin again."""
        if self._held is not None and digest in self._held:
            return True
        try:
            os.utime(self.path(digest))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise trouble(error, self.path(digest), "use") from None
        return True

    def get(self, digest: str) -> bytes:
        """The bytes, which are those that were kept; raises ExecplanError."""
        return b"".join(self.parts(digest))

    def parts(self, digest: str) -> Iterator[bytes]:
        """The bytes part by part; raises ExecplanError at their end where they are not those that were kept."""
        path, found = self.path(digest), sha256()
        try:
            with gzip.open(path) as file:
                while part := file.read(_PART):
                    found.update(part)
                    yield part
            os.utime(path)
        except FileNotFoundError:
            raise _missing(path) from None
        except (zlib.error, EOFError, gzip.BadGzipFile):
            raise _altered(path) from None
        except OSError as error:
            raise trouble(error, path, "read") from None
        if found.hexdigest() != digest:
            raise _altered(path)

    def check(self, digests: Iterable[str]) -> None:
        """Refuse where one of these is missing or not as it was kept; raises ExecplanError that names all of them."""
        bad: list[ExecplanError] = []
        for digest in dict.fromkeys(digests):
            try:
                for _ in self.parts(digest):
                    pass
            except ExecplanError as error:
                bad.append(error)
        if bad:
            first = next((each for each in bad if each.code == "backup-altered"), bad[0])
            first.candidates = tuple([each.message for each in bad]) if len(bad) > 1 else ()
            raise first

    @contextmanager
    def together(self) -> Iterator[Store]:
        """A store of which all that is kept is on disk at the end, and not before, which is many times as fast."""
        held: dict[str, str] = {}
        try:
            yield Store(self.home, held)
            try:
                self._settle(held)
            except OSError as error:
                raise trouble(error, self.folder, "write to") from None
        finally:
            for path in held.values():
                _unlink(path)

    def _settle(self, held: dict[str, str]) -> None:
        """Have what waits on disk, then give it its names; raises OSError."""
        at_once = len(held) >= _MANY and _sync_all(self.folder)
        for path in () if at_once else held.values():
            _sync(path)
        for digest, path in held.items():
            os.rename(path, self.path(digest))
        folders = {os.path.dirname(self.path(digest)) for digest in held}
        held.clear()
        for folder in () if at_once and _sync_all(self.folder) else folders:
            sync_folder(folder)

    def purge(self, days: int) -> int:
        """Remove backups and lists of the tree that nobody has used for so many days; how many files. Never fails."""
        gone, until = 0, time.time() - days * _DAY
        for top in (self.folder, os.path.join(self.home.state, "runs")):
            for folder, _, names in os.walk(top):
                for path in [os.path.join(folder, name) for name in names if name.endswith((".gz", ".tmp", ".tree"))]:
                    try:
                        if os.lstat(path).st_mtime < until:
                            os.unlink(path)
                            gone += 1
                    except OSError as error:
                        trace.tell(f"{path} could not be removed: {error}")
        return gone + _purge_copies(os.path.join(self.home.state, "runs"), until)

    def path(self, digest: str) -> str:
        """The file of a backup."""
        return os.path.join(self.folder, digest[:2], f"{digest[2:]}.gz")

    def _put(self, parts: Iterable[bytes], digest: str) -> bool:
        """Keep bytes that come part by part; False, with nothing kept, when they are not those of the digest."""
        path = self.path(digest)
        beside = os.path.join(self.folder, f"{os.urandom(8).hex()}.tmp")
        try:
            self._folder(os.path.dirname(path))
            if _compress(beside, parts) != digest:
                return False
            if self._held is not None:
                self._held[digest] = beside
                return True
            _sync(beside)
            os.rename(beside, path)
            sync_folder(os.path.dirname(path))
        except OSError as error:
            raise trouble(error, path, "write") from None
        finally:
            if self._held is None or self._held.get(digest) != beside:
                _unlink(beside)
        return True

    def _folder(self, path: str) -> None:
        """Make the folder that a backup lies in, so that nobody else reads what it holds."""
        if not os.path.isdir(path):
            state.folder(self.home, "backups")
            os.makedirs(path, 0o700, exist_ok=True)


def _purge_copies(above: str, until: float) -> int:
    """Remove the copies of what runs have written that none has added to since; how many. Never fails."""
    gone = 0
    for name in os.listdir(above) if os.path.isdir(above) else ():
        copy = os.path.join(above, name, "copy")
        try:
            if os.lstat(os.path.join(copy, "journal.jsonl")).st_mtime < until:
                shutil.rmtree(copy)
                gone += 1
        except OSError as error:
            trace.tell(f"{copy} was not removed: {error}")
    return gone


def _compress(path: str, parts: Iterable[bytes]) -> str:
    """Write bytes, packed, into a new file; their SHA-256. The same bytes give the same file. Raises OSError."""
    found = sha256()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file, gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
        for part in parts:
            found.update(part)
            packed.write(part)
    return found.hexdigest()


def _sync(path: str) -> None:
    handle = disk.open_regular(path)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_all(folder: str) -> bool:
    """Have all of a file system on disk; False where the system has no call that waits for it. Raises OSError."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if call is None:
        return False
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if call(handle):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(handle)
    return True


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _missing(path: str) -> ExecplanError:
    return ExecplanError(
        "backup-missing",
        f"there is no backup {path}",
        exit=ENVIRONMENT,
        hint="it was removed, nobody used it for the days that `backup_days` says, or another checkout has it: "
        "roll back there, or take the file from git",
    )


def _altered(path: str) -> ExecplanError:
    return ExecplanError(
        "backup-altered",
        f"the backup {path} is not as it was kept",
        exit=ENVIRONMENT,
        hint="bring it back from a copy of the disk, or take the file that it is of from git",
    )
