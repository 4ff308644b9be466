"""The file of a ledger, held under its lock: read whole or at its end, and appended to so that a line is there or not."""

from __future__ import annotations

import os

from execplan import trace
from execplan.engine.audit_log import hash_chain
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.files import atomic_files, file_access
from execplan.files.file_access import file_error
from execplan.files.open_directory import OpenDirectory
from execplan.project import project_state
from execplan.project.project import ensure_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final

    from execplan.engine.audit_log.hash_chain import AuditRecord
    from execplan.project.project import Project

LIMIT: Final = 256 << 20
"""Bytes of the longest ledger that is read."""
_TAIL_BYTES = 1 << 16
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def copy_size(path: str) -> int:
    """Bytes of a copy; none where there is none."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


class LogFile:
    """A ledger's file while its lock is held; what a killed writer has left of a line is cut off."""

    def __init__(self, project: Project, path: str, holder: str, copy_path: str) -> None:
        """`copy_path`: where the state has a copy of it, which is as long as it is whenever nobody has altered either."""
        ensure_inside(project, path)
        self._copy_path = copy_path
        self.project = project
        self.path = path
        self._lock = project_state.lock(project, os.path.realpath(path), holder)
        self._handle = -1
        self._size = 0

    def __enter__(self) -> LogFile:
        self._lock.__enter__()
        try:
            if os.path.lexists(self.path):
                self._open(_FLAGS)
                self._repair_last_line()
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

    def read_all(self) -> bytes:
        """All of it; raises ExecplanError."""
        return self._read_range(0, self._size)

    def read_last_record(self) -> AuditRecord | None:
        """The last record; raises ValueError, in words, for a line that is none."""
        if not self._size:
            return None
        begin = self._find_line_start(self._size - 1)
        return hash_chain.parse_record(self._read_range(begin, self._size - 1 - begin))

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
            raise file_error(error, self.path, "write") from None
        self._size += len(data)
        try:
            self._append_to_copy(data)
        except ExecplanError as error:  # the next one that is added renews it
            trace.log(f"{self._copy_path} could not follow: {error.message}")

    @property
    def is_shorter_than_copy(self) -> bool:
        """Whether its copy goes on behind it."""
        return self._size < copy_size(self._copy_path)

    def read_copy(self) -> bytes:
        """What the copy holds, whole lines; nothing where there is none. Raises ExecplanError."""
        data = file_access.read(self._copy_path, LIMIT)[0] if os.path.lexists(self._copy_path) else b""
        return data[: data.rfind(b"\n") + 1]

    def restore(self, data: bytes) -> None:
        """Let it be as the copy; raises ExecplanError."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        atomic_files.write(self.path, data, within=self.project.root)
        self._open(_FLAGS)

    def renew_copy(self) -> None:
        """Let the copy be as this is, whatever it was; raises ExecplanError."""
        atomic_files.write(self._copy_path, self.read_all())

    def _append_to_copy(self, data: bytes) -> None:
        """Let the copy be as this is, to which these bytes were added; raises ExecplanError."""
        previous_size = self._size - len(data)
        if not previous_size or copy_size(self._copy_path) != previous_size:
            self.renew_copy()
            return
        try:
            with open(
                file_access.open_regular(self._copy_path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW), "wb"
            ) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise file_error(error, self._copy_path, "write") from None

    def _open(self, flags: int) -> None:
        parent, name = os.path.split(self.path)
        is_new = bool(flags & os.O_CREAT)
        with OpenDirectory(parent, within=self.project.root, make=is_new) as folder:
            try:
                self._handle = file_access.open_regular(name, flags, dir_fd=folder.handle)
                status = os.fstat(self._handle)
                if is_new:
                    folder.sync()
            except OSError as error:
                raise file_error(error, self.path, "write") from None
        if status.st_size > LIMIT:
            size_text = f"has {status.st_size:,} bytes"
            hint = "bring it back as it was, from git or a backup"
            raise ExecplanError(
                "io-error", f"{self.path} {size_text}: no ledger is like that", exit=ENVIRONMENT, hint=hint
            )
        self._size = status.st_size

    def _repair_last_line(self) -> None:
        """Complete a last line that lacks but its end, and cut off less than a line."""
        begin = self._find_line_start(self._size)
        torn = self._read_range(begin, self._size - begin)
        if not torn:
            return
        try:
            hash_chain.parse_record(torn)
        except ValueError:
            self._truncate(begin)
        else:
            self.append(b"\n")

    def _find_line_start(self, end: int) -> int:
        """Where the line begins that has its end here."""
        length = _TAIL_BYTES
        while True:
            begin = max(end - length, 0)
            at = self._read_range(begin, end - begin).rfind(b"\n")
            if at >= 0 or not begin:
                return begin + at + 1
            length *= 16

    def _truncate(self, size: int) -> None:
        try:
            os.ftruncate(self._handle, size)
            os.fsync(self._handle)
        except OSError as error:
            raise file_error(error, self.path, "write") from None
        self._size = size

    def _read_range(self, begin: int, length: int) -> bytes:
        chunks = []
        try:
            while length > 0 and (chunk := os.pread(self._handle, min(length, 1 << 24), begin)):
                chunks.append(chunk)
                begin, length = begin + len(chunk), length - len(chunk)
        except OSError as error:
            raise file_error(error, self.path, "read") from None
        return b"".join(chunks)
