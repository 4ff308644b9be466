"""The journal of a run: entries written to disk before each action, and after its result is known.

An entry is synced before anything depends on it, together with the files on which it depends. Each is also appended to
a copy in the artifacts of the plan, which is never synced, because the journal repairs it.
"""

from __future__ import annotations

import os

from execplan.core.clock import utc_timestamp
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.sync_group import UnsyncedFiles
from execplan.core.named_tuple import NamedTuple
from execplan.core.text import fast_json
from execplan.core.text.text_lines import digest
from execplan.execution.engine.journal.entry_schema import is_valid_entry
from execplan.execution.engine.run_records.run_directories import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Final

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | file_access.NO_FOLLOW
MAX_BYTES: Final = 256 << 20
"""Size limit of a journal in bytes."""


MERGE_MARKER: Final = "it is a git conflict marker; keep one side completely, for example with `git checkout --ours`"
"""Message for a merge conflict: both branches ran the plan, and lines of both form no valid journal."""
_FOREIGN_WRITE: Final = "another program has changed it"


def append(handle: int, data: bytes, size: int, *, durable: bool = True) -> None:
    """Append bytes to an open file of a given size, and flush them to disk unless they need not be durable.

    Raises OSError; the file then has its old size. The caller is the only writer.
    """
    try:
        file_access.write_all(handle, data)
        if durable:
            os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


class JournalMirror:
    """A journal copy that is appended to while it is intact; otherwise it waits until it is rewritten."""

    def __init__(self, path: str, within: str | None) -> None:
        self.path, self.within = path, within
        self._handle = -1
        self._size = 0
        self.overwritten: bytes | None = None
        """Overwritten foreign contents, empty if the file was gone; None while it was intact."""

    @property
    def is_intact(self) -> bool:
        """Return whether the file is the one last written, unchanged."""
        if self._handle < 0:
            return False
        own_stat = os.fstat(self._handle)
        try:
            return os.path.samestat(os.lstat(self.path), own_stat) and own_stat.st_size == self._size
        except OSError:
            return False

    def append(self, data: bytes) -> None:
        """Append a line if the copy is intact. Raises OSError and leaves the copy unchanged."""
        if not self.is_intact:
            return
        append(self._handle, data, self._size, durable=False)
        self._size += len(data)

    def rewrite(self, data: bytes) -> None:
        """Replace the copy with these bytes. Raises ExecplanError."""
        was_open = self._handle >= 0
        self.close()
        old = self._read_existing()
        if old != data:
            from execplan.core.files import atomic_files

            atomic_files.replace(self.path, data, within=self.within, durable=False)
            if data and (was_open or not old or not data.startswith(old)):
                self.overwritten = b"" if data.startswith(old or b"") else old
        try:
            self._handle = file_access.open_regular(self.path, _FLAGS)
        except OSError as error:
            raise file_access.file_error(error, self.path, "write") from None
        self._size = len(data)

    def close(self) -> None:
        """Close the file of the copy."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _read_existing(self) -> bytes | None:
        """Return the existing contents; None if there is no readable file."""
        try:
            return file_access.read_if_exists(self.path, LIMIT)
        except ExecplanError:
            return None


class RunEntry(NamedTuple):
    """An entry of a journal, stored as one line."""

    number: int
    """Entry number from 1, without gaps; it defines the order, not the time."""
    kind: str
    """One of the kinds in journal_entries.py."""
    at: str
    """UTC time of the system clock, which may have been reset meanwhile."""
    fields: dict[str, Any]
    """Other fields of the entry, depending on the kind."""
    line: str
    """SHA-256 of the line as stored; also in the audit log."""


class Journal:
    """The journal of an active run; its only writer is the process that has the lock of runs."""

    def __init__(
        self, path: str, mirror_path: str = "", within: str | None = None, unsynced: UnsyncedFiles | None = None
    ) -> None:
        """Open the journal for writing; create it if missing, and cut off an incomplete line left by a killed writer.

        `mirror_path`: the journal's path in the plan's artifacts, if that is another file; entries go to both.
        `unsynced`: the files that are synced before the next entry is. Raises ExecplanError.
        """
        self.path = path
        self.unsynced = UnsyncedFiles() if unsynced is None else unsynced
        self._is_synced = True
        self._mirror = JournalMirror(mirror_path, within) if mirror_path else None
        self._handle = -1
        self._size = 0
        """Size in bytes of the known lines; any other data was written by another program."""
        self.entries: list[RunEntry] = []
        try:
            handle = file_access.open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | file_access.NO_FOLLOW, 0o644)
        except OSError as error:
            raise file_access.file_error(error, path, "write") from None
        try:
            data = read_bytes(path)
            complete_size = data.rfind(b"\n") + 1
            self.entries = parse_entries(data[:complete_size], path)
            if complete_size < len(data):
                os.ftruncate(handle, complete_size)
                os.fsync(handle)
            elif not data:
                file_access.sync_path(os.path.dirname(path), together=True)
            if self._mirror is not None:
                self._mirror.rewrite(data[:complete_size])
        except BaseException as error:
            os.close(handle)
            if isinstance(error, OSError):
                raise file_access.file_error(error, path, "write") from None
            raise
        self._handle, self._size = handle, complete_size

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Sync what was written; after an error, as far as possible. Raises ExecplanError."""
        try:
            self.sync()
        except ExecplanError:
            if error is None:
                raise
        finally:
            self.unsynced.close()
            os.close(self._handle)
            if self._mirror is not None:
                self._mirror.close()

    def write(self, kind: str, **fields: Any) -> RunEntry:
        """Append an entry and sync it. Raises ExecplanError and leaves the journal unchanged."""
        return self.append_entry(kind, fields, durable=True)

    def append_entry(self, kind: str, fields: dict[str, Any], *, durable: bool) -> RunEntry:
        """Append an entry; unless it is `durable`, it is synced with the next one, or by `sync`, before it is needed.

        Raises ExecplanError and leaves the journal unchanged.
        """
        document = {"n": len(self.entries) + 1, "kind": kind, "at": utc_timestamp(), **fields}
        data = fast_json.write(document).encode("utf-8", "backslashreplace") + b"\n"
        self._ensure_not_altered()
        try:
            if durable:
                self.unsynced.sync()
            append(self._handle, data, self._size, durable=durable)
            if self._mirror is not None:
                self._mirror.append(data)
        except OSError as error:
            os.ftruncate(self._handle, self._size)
            raise file_access.file_error(error, self.path, "write") from None
        self._size += len(data)
        self._is_synced = durable
        entry = _parse_entry(data[:-1], self.path, len(self.entries) + 1)
        self.entries.append(entry)
        return entry

    def sync(self) -> None:
        """Sync the entries that are not yet synced, and before them what they depend on. Raises ExecplanError."""
        if self._is_synced:
            return
        try:
            self.unsynced.sync()
            os.fsync(self._handle)
        except OSError as error:
            raise file_access.file_error(error, self.path, "write") from None
        self._is_synced = True

    def repair_mirror(self) -> bytes | None:
        """Bring the journal's mirror in the plan's artifacts up to date. Raises ExecplanError.

        Returns the foreign contents overwritten since the last call, empty if the file was gone, None if it was intact.
        """
        if self._mirror is None:
            return None
        if not self._mirror.is_intact:
            self._mirror.rewrite(read_bytes(self.path)[: self._size])
        overwritten_bytes, self._mirror.overwritten = self._mirror.overwritten, None
        return overwritten_bytes

    def _ensure_not_altered(self) -> None:
        """Raise ExecplanError if a step or another program has removed or changed the file."""
        own_stat = os.fstat(self._handle)
        try:
            is_same_file = os.path.samestat(os.lstat(self.path), own_stat)
        except OSError:
            is_same_file = False
        if not is_same_file or own_stat.st_size != self._size:
            problem = "has unexpected content" if is_same_file else "was removed or replaced"
            raise ExecplanError(
                "journal-altered",
                f"{self.path} {problem}: a step or another program changed it during the run, so the run stops here",
                hint="restore the run directory; see what the audit log has recorded: execplan audit --verify",
            )


def read_journal(path: str) -> list[RunEntry]:
    """Read the complete entries of a journal, which may be in use. Raises ExecplanError."""
    data = read_bytes(path)
    return parse_entries(data[: data.rfind(b"\n") + 1], path)


def parse_entries(data: bytes, path: str) -> list[RunEntry]:
    """Parse the entries of complete lines. Raises ExecplanError if a line is not a journal entry."""
    return [_parse_entry(line, path, number) for number, line in enumerate(data.split(b"\n")[:-1], 1)]


def check_entries(entries: list[RunEntry], path: str) -> list[RunEntry]:
    """Return the entries after validating the fields of each. Raises ExecplanError."""
    for entry in entries:
        if not is_valid_entry(entry.kind, entry.number, entry.at, entry.fields):
            raise altered_error(path, entry.number)
    return entries


def _parse_entry(line: bytes, path: str, number: int) -> RunEntry:
    try:
        fields = fast_json.read(line.decode(), allow_surrogates=True)
        kind, at = fields.pop("kind"), fields.pop("at")
        if fields.pop("n") != number or not isinstance(kind, str) or not isinstance(at, str):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise altered_error(path, number, MERGE_MARKER if is_merge_marker(line) else _FOREIGN_WRITE) from None
    return RunEntry(number, kind, at, fields, digest(line))


def altered_error(path: str, number: int, why: str = _FOREIGN_WRITE) -> ExecplanError:
    """Return the error for an invalid entry of a journal."""
    return ExecplanError(
        "journal-altered",
        f"{path}:{number} is not a journal entry: {why}",
        hint="restore the file from git or a backup; see when it changed: execplan audit --verify",
        line=number,
    )


def is_merge_marker(line: bytes) -> bool:
    """Return whether a line is a conflict marker of a Git merge."""
    return line.rstrip(b"\r").partition(b" ")[0] in (b"<" * 7, b"|" * 7, b"=" * 7, b">" * 7)


def read_bytes(path: str) -> bytes:
    """Read a journal's bytes, including a torn last line. Raises ExecplanError."""
    data, size = file_access.read(path, MAX_BYTES)
    if size > MAX_BYTES:
        message = f"{path} has {size:,} bytes, too many for a journal"
        raise ExecplanError("journal-altered", message, hint="restore it from git or a backup")
    return data
