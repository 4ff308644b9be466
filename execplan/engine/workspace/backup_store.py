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
from execplan.files import file_access
from execplan.files.atomic_files import sync_directory
from execplan.files.file_access import conflict_error, file_error
from execplan.project import project_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.engine.workspace.workspace_files import WorkspaceFiles
    from execplan.execution.world import State
    from execplan.project.project import Project

_DAY = 24 * 3600
_CHUNK_SIZE = 1 << 20
_LEVEL = 1
"""Of compression: twice the size of the best, in a tenth of its time."""
_SYNC_ALL_FROM = 64
"""Files from which on one call that syncs the whole disk is the faster one."""
_TRIES = 8


class BackupStore:
    """The backups of a home, each named by the SHA-256 of its bytes."""

    def __init__(self, project: Project, pending: dict[str, str] | None = None) -> None:
        """`pending`: where what waits to be synced is noted, by digest under which name; see `together`."""
        self.project = project
        self.folder = os.path.join(project.state, "backups")
        self._pending = pending

    def save(self, data: bytes) -> str:
        """Keep these bytes; their SHA-256. On disk by then. Raises ExecplanError."""
        digest = sha256(data).hexdigest()
        if not self.has(digest):
            self._write((data,), digest)
        return digest

    def save_path(self, workspace: WorkspaceFiles, path: str) -> State:
        """What is at a path, its bytes kept if it is a file; raises ExecplanError."""
        for _ in range(_TRIES):
            path_state = workspace.state(path)
            if path_state.kind != FILE or not path_state.sha256 or self.has(path_state.sha256):
                return path_state
            if self._write(workspace.read_chunks(path), path_state.sha256):
                return path_state
        raise conflict_error(path)

    def has(self, digest: str) -> bool:
        """Whether the bytes are kept; if so, the days for which they are kept begin again."""
        if self._pending is not None and digest in self._pending:
            return True
        try:
            os.utime(self.path(digest))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise file_error(error, self.path(digest), "use") from None
        return True

    def get(self, digest: str) -> bytes:
        """The bytes, which are those that were kept; raises ExecplanError."""
        return b"".join(self.read_chunks(digest))

    def read_chunks(self, digest: str) -> Iterator[bytes]:
        """The bytes part by part; raises ExecplanError at their end where they are not those that were kept."""
        path, hasher = self.path(digest), sha256()
        try:
            with gzip.open(path) as file:
                while chunk := file.read(_CHUNK_SIZE):
                    hasher.update(chunk)
                    yield chunk
            os.utime(path)
        except FileNotFoundError:
            raise _missing_error(path) from None
        except (zlib.error, EOFError, gzip.BadGzipFile):
            raise _altered_error(path) from None
        except OSError as error:
            raise file_error(error, path, "read") from None
        if hasher.hexdigest() != digest:
            raise _altered_error(path)

    def ensure_intact(self, digests: Iterable[str]) -> None:
        """Refuse where one of these is missing or not as it was kept; raises ExecplanError that names all of them."""
        problems: list[ExecplanError] = []
        for digest in dict.fromkeys(digests):
            try:
                for _ in self.read_chunks(digest):
                    pass
            except ExecplanError as error:
                problems.append(error)
        if problems:
            primary = next((problem for problem in problems if problem.code == "backup-altered"), problems[0])
            primary.candidates = tuple([problem.message for problem in problems]) if len(problems) > 1 else ()
            raise primary

    @contextmanager
    def batch(self) -> Iterator[BackupStore]:
        """A store of which all that is kept is on disk at the end, and not before, which is many times as fast."""
        pending: dict[str, str] = {}
        try:
            yield BackupStore(self.project, pending)
            try:
                self._commit_pending(pending)
            except OSError as error:
                raise file_error(error, self.folder, "write to") from None
        finally:
            for path in pending.values():
                _unlink(path)

    def _commit_pending(self, pending: dict[str, str]) -> None:
        """Have what waits on disk, then give it its names; raises OSError."""
        is_fully_synced = len(pending) >= _SYNC_ALL_FROM and _sync_all(self.folder)
        for path in () if is_fully_synced else pending.values():
            _sync(path)
        for digest, path in pending.items():
            os.rename(path, self.path(digest))
        folders = {os.path.dirname(self.path(digest)) for digest in pending}
        pending.clear()
        for folder in () if is_fully_synced and _sync_all(self.folder) else folders:
            sync_directory(folder)

    def purge(self, days: int) -> int:
        """Remove backups and lists of the tree that nobody has used for so many days; how many files. Never fails."""
        removed, cutoff = 0, time.time() - days * _DAY
        for top in (self.folder, os.path.join(self.project.state, "runs")):
            for folder, _, names in os.walk(top):
                for path in [os.path.join(folder, name) for name in names if name.endswith((".gz", ".tmp", ".tree"))]:
                    try:
                        if os.lstat(path).st_mtime < cutoff:
                            os.unlink(path)
                            removed += 1
                    except OSError as error:
                        trace.log(f"{path} could not be removed: {error}")
        return removed + _purge_copies(os.path.join(self.project.state, "runs"), cutoff)

    def path(self, digest: str) -> str:
        """The file of a backup."""
        return os.path.join(self.folder, digest[:2], f"{digest[2:]}.gz")

    def _write(self, chunks: Iterable[bytes], digest: str) -> bool:
        """Keep bytes that come part by part; False, with nothing kept, when they are not those of the digest."""
        path = self.path(digest)
        temporary_path = os.path.join(self.folder, f"{os.urandom(8).hex()}.tmp")
        try:
            self._make_folder(os.path.dirname(path))
            if _compress(temporary_path, chunks) != digest:
                return False
            if self._pending is not None:
                self._pending[digest] = temporary_path
                return True
            _sync(temporary_path)
            os.rename(temporary_path, path)
            sync_directory(os.path.dirname(path))
        except OSError as error:
            raise file_error(error, path, "write") from None
        finally:
            if self._pending is None or self._pending.get(digest) != temporary_path:
                _unlink(temporary_path)
        return True

    def _make_folder(self, path: str) -> None:
        """Make the folder that a backup lies in, so that nobody else reads what it holds."""
        if not os.path.isdir(path):
            project_state.make_state_dir(self.project, "backups")
            os.makedirs(path, 0o700, exist_ok=True)


def _purge_copies(runs_folder: str, cutoff: float) -> int:
    """Remove the copies of what runs have written that none has added to since; how many. Never fails."""
    removed = 0
    for name in os.listdir(runs_folder) if os.path.isdir(runs_folder) else ():
        copy = os.path.join(runs_folder, name, "copy")
        try:
            if os.lstat(os.path.join(copy, "journal.jsonl")).st_mtime < cutoff:
                shutil.rmtree(copy)
                removed += 1
        except OSError as error:
            trace.log(f"{copy} was not removed: {error}")
    return removed


def _compress(path: str, chunks: Iterable[bytes]) -> str:
    """Write bytes, packed, into a new file; their SHA-256. The same bytes give the same file. Raises OSError."""
    hasher = sha256()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file, gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
        for chunk in chunks:
            hasher.update(chunk)
            packed.write(chunk)
    return hasher.hexdigest()


def _sync(path: str) -> None:
    handle = file_access.open_regular(path)
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


def _missing_error(path: str) -> ExecplanError:
    return ExecplanError(
        "backup-missing",
        f"there is no backup {path}",
        exit=ENVIRONMENT,
        hint="it was removed, nobody used it for the days that `backup_days` says, or another checkout has it: "
        "roll back there, or take the file from git",
    )


def _altered_error(path: str) -> ExecplanError:
    return ExecplanError(
        "backup-altered",
        f"the backup {path} is not as it was kept",
        exit=ENVIRONMENT,
        hint="bring it back from a copy of the disk, or take the file that it is of from git",
    )
