"""The copy of a run's journal in the artifacts of its plan: each entry is appended once it is synced in the state."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.execution.engine.run_records.run_directories import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


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
        file_access.append(self._handle, data, self._size)
        self._size += len(data)

    def rewrite(self, data: bytes) -> None:
        """Replace the copy with these bytes. Raises ExecplanError."""
        was_open = self._handle >= 0
        self.close()
        old = self._read_existing()
        if old != data:
            atomic_files.replace(self.path, data, within=self.within)
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
