"""The file of an audit log, used under its lock; a line is appended completely or not at all."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Final

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.file_access import file_error
from execplan.core.files.open_directory import OpenDirectory
from execplan.core.project import project_state
from execplan.core.project.project import Project, ensure_inside
from execplan.execution.engine.audit_log import hash_chain
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.journal.journal import append

FILE_NAME: Final = "ledger.jsonl"
LIMIT: Final = 256 << 20
"""Size limit of an audit log in bytes."""
_TAIL_BYTES = 1 << 16
_FLAGS = os.O_RDWR | os.O_APPEND | file_access.NO_FOLLOW


def copy_path(project: Project, plan_path: str) -> str:
    """Return the path of the copy of a plan's audit log in the state directory, existing or not."""
    return os.path.join(project_state.plan_state_dir(project, plan_path), FILE_NAME)


def copy_size(path: str) -> int:
    """Return the size of a copy in bytes; 0 if there is none."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


class LogFile:
    """An audit log file with its lock; an incomplete line left by a killed writer is cut off."""

    def __init__(self, project: Project, path: str, holder: str, plan_path: str) -> None:
        """`plan_path`: the plan whose state directory has a copy of the same length, unless one of the two was altered."""
        ensure_inside(project, path)
        self._plan_path = plan_path
        self._copy_path = copy_path(project, plan_path)
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
        """Read the whole file. Raises ExecplanError."""
        return self._read_range(0, self._size)

    def read_last_record(self) -> AuditRecord | None:
        """Return the last record. Raises ValueError with a message if the line is not a valid record."""
        if not self._size:
            return None
        begin = self._find_line_start(self._size - 1)
        return hash_chain.parse_record(self._read_range(begin, self._size - 1 - begin))

    def append(self, data: bytes, *, durable: bool = True) -> None:
        """Append complete lines and sync them unless they need not be durable; on ExecplanError, the file is unchanged."""
        if self._handle < 0:
            self._open(_FLAGS | os.O_CREAT | os.O_EXCL)
        try:
            append(self._handle, data, self._size, durable=durable)
        except OSError as error:
            raise file_error(error, self.path, "write") from None
        self._size += len(data)
        try:
            self._append_to_copy(data)
        except ExecplanError as error:  # the next append renews the copy
            trace.log(f"couldn't update {self._copy_path}: {error.message}")

    def sync(self) -> None:
        """Sync what was appended without that. Raises ExecplanError."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise file_error(error, self.path, "write") from None

    @property
    def is_shorter_than_copy(self) -> bool:
        """Return whether the copy is longer than the file."""
        return self._size < copy_size(self._copy_path)

    def read_copy(self) -> bytes:
        """Read the complete lines of the copy; empty if there is no copy. Raises ExecplanError."""
        data = file_access.read_if_exists(self._copy_path, LIMIT) or b""
        return data[: data.rfind(b"\n") + 1]

    def restore(self, data: bytes) -> None:
        """Replace the file with the contents of the copy. Raises ExecplanError."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        atomic_files.replace(self.path, data, within=self.project.root)
        self._open(_FLAGS)

    def renew_copy(self) -> None:
        """Rewrite the copy from the file. Raises ExecplanError."""
        project_state.make_plan_state_dir(self.project, self._plan_path)
        atomic_files.replace(self._copy_path, self.read_all(), durable=False)

    def _append_to_copy(self, data: bytes) -> None:
        """Append the bytes just added to the copy, or renew a copy of a different length. Raises ExecplanError."""
        previous_size = self._size - len(data)
        if not previous_size or copy_size(self._copy_path) != previous_size:
            self.renew_copy()
            return
        try:
            handle = file_access.open_regular(self._copy_path, os.O_WRONLY | os.O_APPEND | file_access.NO_FOLLOW)
            try:
                append(handle, data, previous_size, durable=False)
            finally:
                os.close(handle)
        except OSError as error:
            raise file_error(error, self._copy_path, "write") from None

    def _open(self, flags: int) -> None:
        parent, name = os.path.split(self.path)
        is_new = bool(flags & os.O_CREAT)
        with OpenDirectory(parent, within=self.project.root, make=is_new) as folder:
            try:
                self._handle = file_access.open_regular(folder.operand(name), flags, dir_fd=folder.handle)
                status = os.fstat(self._handle)
                if is_new:
                    folder.sync()
            except OSError as error:
                raise file_error(error, self.path, "write") from None
        if status.st_size > LIMIT:
            size_text = f"has {status.st_size:,} bytes"
            hint = "restore it from git or a backup"
            raise ExecplanError("io-error", f"{self.path} {size_text}, too many for an audit log", hint=hint)
        self._size = status.st_size

    def _repair_last_line(self) -> None:
        """Add the missing newline to a complete last line; cut off an incomplete one."""
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
        """Return the start of the line that ends at an offset."""
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
            while length > 0 and (chunk := file_access.read_at(self._handle, min(length, 1 << 24), begin)):
                chunks.append(chunk)
                begin, length = begin + len(chunk), length - len(chunk)
        except OSError as error:
            raise file_error(error, self.path, "read") from None
        return b"".join(chunks)
