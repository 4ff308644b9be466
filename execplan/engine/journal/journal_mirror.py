"""The journal of a run as the artifacts of its plan have it: each entry follows there when it is on disk in the state."""

from __future__ import annotations

import os

from execplan.engine.run_records.run_directories import LIMIT
from execplan.errors import ExecplanError
from execplan.files import atomic_files, file_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class JournalMirror:
    """It is added to while it is as it was left; else it waits until it is renewed."""

    def __init__(self, path: str, within: str | None) -> None:
        self.path, self.within = path, within
        self._handle = -1
        self._size = 0
        self.overwritten: bytes | None = None
        """What was there that is not of the journal, nothing where it was gone; None while it was as it should be."""

    @property
    def is_intact(self) -> bool:
        """Whether it is the file that was last written to, as it was left."""
        if self._handle < 0:
            return False
        own_stat = os.fstat(self._handle)
        try:
            return os.path.samestat(os.lstat(self.path), own_stat) and own_stat.st_size == self._size
        except OSError:
            return False

    def append(self, data: bytes) -> None:
        """Add a line, where it is whole; raises OSError with it as it was."""
        if not self.is_intact:
            return
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, self._size)
            raise
        self._size += len(data)

    def rewrite(self, data: bytes) -> None:
        """Let it hold these bytes; raises ExecplanError."""
        was_open = self._handle >= 0
        self.close()
        old = self._read_existing()
        if old != data:
            atomic_files.write(self.path, data, within=self.within)
            if data and (was_open or not old or not data.startswith(old)):
                self.overwritten = b"" if data.startswith(old or b"") else old
        try:
            self._handle = file_access.open_regular(self.path, _FLAGS)
        except OSError as error:
            raise file_access.file_error(error, self.path, "write") from None
        self._size = len(data)

    def close(self) -> None:
        """Let go of it."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _read_existing(self) -> bytes | None:
        """What is there; nothing for what is no file."""
        try:
            return file_access.read(self.path, LIMIT)[0] if os.path.lexists(self.path) else None
        except ExecplanError:
            return None
