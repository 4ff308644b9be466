"""The file of a ledger, held under its lock: read whole or at its end, and appended to so that a line is there or not."""

from __future__ import annotations

import os

from execplan import trace
from execplan.engine.ledger import chain
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.repo import state
from execplan.repo.home import check_inside
from execplan.text import disk, files
from execplan.text.disk import trouble
from execplan.text.folder import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final

    from execplan.engine.ledger.chain import Record
    from execplan.repo.home import Home

LIMIT: Final = 256 << 20
"""Bytes of the longest ledger that is read."""
_END = 1 << 16
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def copied_size(path: str) -> int:
    """Bytes of a copy; none where there is none."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


class File:
    """A ledger's file while its lock is held; what a killed writer has left of a line is cut off."""

    def __init__(self, home: Home, path: str, holder: str, copy: str) -> None:
        """`copy`: where the state has a copy of it, which is as long as it is whenever nobody has altered either."""
        check_inside(home, path)
        self._copy = copy
        self.home = home
        self.path = path
        self._lock = state.lock(home, os.path.realpath(path), holder)
        self._handle = -1
        self._size = 0

    def __enter__(self) -> File:
        self._lock.__enter__()
        try:
            if os.path.lexists(self.path):
                self._open(_FLAGS)
                self._mend()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        self._lock.__exit__(kind, error, trace)

    def whole(self) -> bytes:
        """All of it; raises ExecplanError."""
        return self._part(0, self._size)

    def last(self) -> Record | None:
        """The last record; raises ValueError, in words, for a line that is none."""
        if not self._size:
            return None
        begin = self._behind_newline(self._size - 1)
        return chain.parse(self._part(begin, self._size - 1 - begin))

    def append(self, data: bytes) -> None:
        """Add whole lines and have them on disk; raises ExecplanError with the file as it was."""
        if self._handle < 0:
            self._open(_FLAGS | os.O_CREAT | os.O_EXCL)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, self._size)
            raise trouble(error, self.path, "write") from None
        self._size += len(data)
        try:
            self._follow(data)
        except ExecplanError as error:  # the next one that is added renews it
            trace.tell(f"{self._copy} could not follow: {error.message}")

    @property
    def is_shorter(self) -> bool:
        """Whether its copy goes on behind it."""
        return self._size < copied_size(self._copy)

    def copied(self) -> bytes:
        """What the copy holds, whole lines; nothing where there is none. Raises ExecplanError."""
        data = disk.read(self._copy, LIMIT)[0] if os.path.lexists(self._copy) else b""
        return data[: data.rfind(b"\n") + 1]

    def restore(self, data: bytes) -> None:
        """Let it be as the copy; raises ExecplanError."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        files.put(self.path, data, within=self.home.root)
        self._open(_FLAGS)

    def renew_copy(self) -> None:
        """Let the copy be as this is, whatever it was; raises ExecplanError."""
        files.put(self._copy, self.whole())

    def _follow(self, data: bytes) -> None:
        """Let the copy be as this is, to which these bytes were added; raises ExecplanError."""
        before = self._size - len(data)
        if not before or copied_size(self._copy) != before:
            self.renew_copy()
            return
        try:
            with open(disk.open_regular(self._copy, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise trouble(error, self._copy, "write") from None

    def _open(self, flags: int) -> None:
        above, name = os.path.split(self.path)
        new = bool(flags & os.O_CREAT)
        with Folder(above, within=self.home.root, make=new) as folder:
            try:
                self._handle = disk.open_regular(name, flags, dir_fd=folder.handle)
                status = os.fstat(self._handle)
                if new:
                    folder.sync()
            except OSError as error:
                raise trouble(error, self.path, "write") from None
        if status.st_size > LIMIT:
            what = f"has {status.st_size:,} bytes"
            hint = "bring it back as it was, from git or a backup"
            raise ExecplanError("io-error", f"{self.path} {what}: no ledger is like that", exit=ENVIRONMENT, hint=hint)
        self._size = status.st_size

    def _mend(self) -> None:
        """Complete a last line that lacks but its end, and cut off less than a line."""
        begin = self._behind_newline(self._size)
        torn = self._part(begin, self._size - begin)
        if not torn:
            return
        try:
            chain.parse(torn)
        except ValueError:
            self._cut(begin)
        else:
            self.append(b"\n")

    def _behind_newline(self, end: int) -> int:
        """Where the line begins that has its end here."""
        length = _END
        while True:
            begin = max(end - length, 0)
            at = self._part(begin, end - begin).rfind(b"\n")
            if at >= 0 or not begin:
                return begin + at + 1
            length *= 16

    def _cut(self, size: int) -> None:
        try:
            os.ftruncate(self._handle, size)
            os.fsync(self._handle)
        except OSError as error:
            raise trouble(error, self.path, "write") from None
        self._size = size

    def _part(self, begin: int, length: int) -> bytes:
        parts = []
        try:
            while length > 0 and (part := os.pread(self._handle, min(length, 1 << 24), begin)):
                parts.append(part)
                begin, length = begin + len(part), length - len(part)
        except OSError as error:
            raise trouble(error, self.path, "read") from None
        return b"".join(parts)
