"""Backups by content, in the directory that is not committed, kept for the number of days in the policy."""

from __future__ import annotations

import gzip
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.atomic_files import sync_directory
from execplan.core.files.file_access import conflict_error, file_error
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.world import FILE, State

_DAY = 24 * 3600
_CHUNK_SIZE = 1 << 20
_LEVEL = 1
"""Compression level for backups: twice the size of the best one, in a tenth of its time."""
_SYNC_ALL_FROM = 64
"""Number of files from which on one sync of the whole file system is faster."""
_TRIES = 8
_REUSE = 3600.0
"""Seconds for which a backup that was used is known to be there; retention periods are days."""


class BackupStore:
    """The backups of a project, each named by the SHA-256 of its contents."""

    def __init__(
        self, project: Project, pending: dict[str, str] | None = None, used: dict[str, float] | None = None
    ) -> None:
        """`pending`: temporary paths by digest of the backups that wait to be synced; see `batch`.

        `used`: when the retention period of each backup was last restarted.
        """
        self.project = project
        self.folder = os.path.join(project.state, "backups")
        self._pending = pending
        self._used: dict[str, float] = {} if used is None else used

    def save(self, data: bytes) -> str:
        """Back up and sync some bytes; return their SHA-256. Raises ExecplanError."""
        digest = sha256(data).hexdigest()
        if not self.has(digest):
            self._write((data,), digest)
        return digest

    def save_path(self, workspace: WorkspaceFiles, path: str) -> State:
        """Return the state of a path, and back up its bytes if it is a file. Raises ExecplanError."""
        for _ in range(_TRIES):
            path_state = workspace.state(path)
            if path_state.kind != FILE or not path_state.sha256 or self.has(path_state.sha256):
                return path_state
            if self._write(workspace.read_chunks(path), path_state.sha256):
                return path_state
        raise conflict_error(path)

    def has(self, digest: str) -> bool:
        """Return whether there is a backup with this digest; if so, restart its retention period."""
        now = time.monotonic()
        if (self._pending is not None and digest in self._pending) or now < self._used.get(digest, 0) + _REUSE:
            return True
        try:
            os.utime(self.path(digest))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise file_error(error, self.path(digest), "use") from None
        self._used[digest] = now
        return True

    def recently_used(self) -> frozenset[str]:
        """Return the digests of the backups that were used so recently that `has` doesn't look for them."""
        limit = time.monotonic() - _REUSE
        return frozenset([digest for digest, used_at in self._used.items() if used_at > limit])

    def get(self, digest: str) -> bytes:
        """Return the verified bytes of a backup. Raises ExecplanError."""
        return b"".join(self.read_chunks(digest))

    def read_chunks(self, digest: str) -> Iterator[bytes]:
        """Iterate over the bytes of a backup in chunks. Raises ExecplanError, at the end if the digest is wrong."""
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
        """Raise ExecplanError if any of these backups is missing or altered; the error lists all of them."""
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
        """Provide a store that syncs all its backups only at the end, which is many times as fast."""
        pending: dict[str, str] = {}
        try:
            yield BackupStore(self.project, pending, self._used)
            try:
                self._commit(pending)
            except OSError as error:
                raise file_error(error, self.folder, "write to") from None
        finally:
            for path in pending.values():
                file_access.remove_if_exists(path)

    def _commit(self, pending: dict[str, str]) -> None:
        """Sync the pending backups, then rename them and forget that they are pending. Raises OSError, ExecplanError."""
        is_fully_synced = len(pending) >= _SYNC_ALL_FROM and _sync_all(self.folder)
        for path in () if is_fully_synced else pending.values():
            file_access.sync_path(path)
        for digest, path in pending.items():
            os.rename(path, self.path(digest))
        folders = {os.path.dirname(self.path(digest)) for digest in pending}
        pending.clear()
        for folder in () if is_fully_synced and _sync_all(self.folder) else folders:
            sync_directory(folder)

    def purge(self, days: int) -> int:
        """Remove backups, and what runs keep, that were not used for `days` days; return the number of files. Never fails."""
        from execplan.core.files.tree_walk import walk_tree

        removed, cutoff = 0, time.time() - days * _DAY
        for top in (self.folder, os.path.join(self.project.state, "runs")):
            for folder, _, names in walk_tree(top):
                for path in [os.path.join(folder, name) for name in names if name.endswith((".gz", ".tmp", ".tree"))]:
                    try:
                        if os.lstat(path).st_mtime < cutoff:
                            os.unlink(path)
                            removed += 1
                    except OSError as error:
                        trace.log(f"{path} could not be removed: {error}")
        return removed + _purge_kept(os.path.join(self.project.state, "runs"), cutoff)

    def path(self, digest: str) -> str:
        """Return the path of a backup."""
        return os.path.join(self.folder, digest[:2], f"{digest[2:]}.gz")

    def _write(self, chunks: Iterable[bytes], digest: str) -> bool:
        """Back up bytes that arrive in chunks; return False, without a backup, if they do not match the digest."""
        path = self.path(digest)
        temporary_path = os.path.join(self.folder, f"{os.urandom(8).hex()}.tmp")
        try:
            self._make_folder(os.path.dirname(path))
            if _compress(temporary_path, chunks) != digest:
                return False
            if self._pending is not None:
                self._pending[digest] = temporary_path
            else:
                self._commit({digest: temporary_path})
        except OSError as error:
            raise file_error(error, path, "write") from None
        finally:
            if self._pending is None or self._pending.get(digest) != temporary_path:
                file_access.remove_if_exists(temporary_path)
        return True

    def _make_folder(self, path: str) -> None:
        """Create the directory of a backup with access only for the user."""
        if not os.path.isdir(path):
            project_state.make_state_dir(self.project, "backups")
            os.makedirs(path, 0o700, exist_ok=True)


def _purge_kept(runs_folder: str, cutoff: float) -> int:
    """Remove what runs keep whose journal has not been written since `cutoff`; return their number. Never fails."""
    from execplan.core.files.tree_walk import remove_tree

    names = os.listdir(runs_folder) if os.path.isdir(runs_folder) else []
    removed = 0
    for name in {name.removesuffix(".jsonl").removesuffix(".kept") for name in names}:
        run = os.path.join(runs_folder, name)
        copy = os.path.join(run, "copy")
        journals = [path for path in (f"{run}.jsonl", os.path.join(copy, "journal.jsonl")) if os.path.lexists(path)]
        try:
            if journals and os.lstat(journals[0]).st_mtime < cutoff:
                file_access.remove_if_exists(f"{run}.kept")
                file_access.remove_if_exists(f"{run}.jsonl")
                if os.path.isdir(copy):
                    remove_tree(copy)
                removed += 1
        except OSError as error:
            trace.log(f"what {run} keeps was not removed: {error}")
    return removed


def _compress(path: str, chunks: Iterable[bytes]) -> str:
    """Write bytes in compressed form to a new file; return their SHA-256. Raises OSError.

    The same bytes give the same file.
    """
    hasher = sha256()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file, gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
        for chunk in chunks:
            hasher.update(chunk)
            packed.write(chunk)
    return hasher.hexdigest()


def _sync_all(folder: str) -> bool:
    """Sync a whole file system; return False if the system has no such call. Raises OSError."""
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


def _missing_error(path: str) -> ExecplanError:
    return ExecplanError(
        "backup-missing",
        f"backup not found: {path}",
        hint=(
            "it was removed, it was not used for `backup_days` days, or it is in another checkout: "
            "roll back there, or restore the file from git"
        ),
    )


def _altered_error(path: str) -> ExecplanError:
    return ExecplanError(
        "backup-altered",
        f"backup {path} was altered",
        hint="restore it from a copy of the disk, or restore the original file from git",
    )
