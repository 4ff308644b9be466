"""Files replaced, made and removed so that a reader sees the old bytes or the new ones, and no others are lost."""

from __future__ import annotations

import os
import stat

from execplan import trace
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.files.file_access import FileChangedError, conflict_error, file_error, resolve_path
from execplan.files.open_directory import OpenDirectory
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

_MAX_ATTEMPTS = 8
_RETRY_DELAY = 0.005
"""Seconds before a file that changed is read again, the first time; then twice as long, and so on."""


class BackupWriter:
    """Where bytes go that a replacement displaced and nobody has read: by default, beside the file."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def has_copy(self, path: str, data: bytes) -> bool:
        """Whether the bytes are a version of the file that is kept elsewhere."""
        return False

    def save_copy(self, path: str, data: bytes) -> None:
        """Keep the bytes, and warn of where; raises ExecplanError."""
        number = 1
        while not create(backup_path := f"{path}.displaced-{number}", data):
            number += 1
        self.warnings.append(
            f"an earlier version of {path} is kept in {backup_path}: remove it if {path} lacks nothing of it"
        )


def replace(
    path: str, old: bytes, new: bytes, *, within: str | None = None, backup_writer: BackupWriter | None = None
) -> bool:
    """Put new bytes in place of the old ones, mode and owner kept, links followed; on any failure the old bytes stay.

    True when the file had other hard links, which keep the old bytes. The caller holds a lock; for those who ask for
    none the two files change places in one step, and what was displaced is looked at: other bytes than the old ones go
    back. Raises ChangedMeanwhileError when the file does not hold the old bytes or lies outside `within` by now,
    ExecplanError for all else.
    """
    target = resolve_path(path)
    name = os.path.basename(target)
    with OpenDirectory(os.path.dirname(target), within=within) as directory:
        try:
            status = directory.status(name)
            if status is None or not stat.S_ISREG(status.st_mode):
                raise FileChangedError(path)
            if not stat.S_IMODE(status.st_mode) & 0o222:
                raise read_only_error(path)
            temporary_file = _clear_temporary(directory, name, (old, new), backup_writer or BackupWriter())
            directory.write(temporary_file, new, 0o600, status_to_copy=status)
            has_other_links = _swap_in(directory, temporary_file, name, old, new, backup_writer or BackupWriter())
        except OSError as error:
            raise file_error(error, path, "write") from None
    trace.log(f"replaced {target}")
    return has_other_links


def _swap_in(
    directory: OpenDirectory, temporary_file: str, name: str, old: bytes, new: bytes, backup_writer: BackupWriter
) -> bool:
    """Let the new file take the name; whether the old one has others. Leaves nothing beside it, whatever happens."""
    try:
        if directory.read(name, len(old) + 1) != old:
            raise FileChangedError(directory.join(name))
        status = directory.status(name)  # by now without the leftover of a `create` that was killed
        if not directory.exchange(temporary_file, name):
            directory.rename(temporary_file, directory, name)
        elif directory.read(temporary_file, len(old) + 1) != old:
            raise FileChangedError(directory.join(name))
        directory.sync()
    except BaseException:
        if directory.status(temporary_file) is not None:
            _undo_swap(directory, temporary_file, name, new, backup_writer)
        raise
    try:
        directory.unlink(temporary_file)
    except OSError as error:  # the new text is in its place: the next writer removes the old one
        trace.log(f"{directory.join(temporary_file)} could not be removed: {error}")
    return status is not None and status.st_nlink > 1


def _undo_swap(
    directory: OpenDirectory, temporary_file: str, name: str, new: bytes, backup_writer: BackupWriter
) -> None:
    """Let what was displaced, if anything was, have its name again, and remove the new file."""
    if directory.read(temporary_file, len(new) + 1) != new:
        directory.exchange(temporary_file, name)
        if (
            directory.read(temporary_file, len(new) + 1) != new
        ):  # somebody has saved over ours since: that is the newer one
            directory.exchange(temporary_file, name)
            backup_writer.save_copy(directory.join(name), _read_file(directory, temporary_file))
    directory.unlink(temporary_file)


def remove_leftover(
    path: str,
    known_versions: tuple[bytes, ...] = (),
    *,
    within: str | None = None,
    backup_writer: BackupWriter | None = None,
) -> None:
    """Remove what a killed writer has left beside a file; bytes that nobody has read are kept. The caller holds a lock.

    Raises ChangedMeanwhileError when the file lies outside `within` by now, ExecplanError.
    """
    if not has_leftover(path):
        return
    directory_path, name = os.path.split(resolve_path(path))
    with OpenDirectory(directory_path, within=within) as directory:
        try:
            _clear_temporary(directory, name, known_versions, backup_writer or BackupWriter())
        except OSError as error:
            raise file_error(error, path, "tidy up beside") from None


def has_leftover(path: str) -> bool:
    """Whether something is beside a file that a writer needs while it writes, or has left."""
    directory, name = os.path.split(resolve_path(path))
    return os.path.lexists(os.path.join(directory, temp_file_name(name)))


def _clear_temporary(
    directory: OpenDirectory, name: str, known_versions: tuple[bytes, ...], backup_writer: BackupWriter
) -> str:
    """The name under which a file is written before it takes another's; free, whatever a killed writer has left there."""
    # One name for each file: what a killed writer has left is found by the next one, under the same lock.
    temporary_file = temp_file_name(name)
    status = directory.status(temporary_file)
    if status is not None:
        leftover = _read_file(directory, temporary_file)
        path = directory.join(name)
        is_known = any(
            [version.startswith(leftover) for version in known_versions]
        )  # a writer that was killed may have written a part
        if status.st_nlink == 1 and not is_known and leftover and not backup_writer.has_copy(path, leftover):
            backup_writer.save_copy(path, leftover)
        directory.unlink(temporary_file)
    return temporary_file


def temp_file_name(name: str) -> str:
    """What a file is called while it is written; its leading dot hides it."""
    return f".execplan-{digest(os.fsencode(name))[:16]}.tmp"


def _read_file(directory: OpenDirectory, name: str) -> bytes:
    return directory.read(name, 1 << 30)


def retry_on_change(operation: Callable[[], T], display_path: str) -> T:
    """Do what reads a file and replaces it, anew when the file was changed between the two; raises ExecplanError."""
    for attempt in range(_MAX_ATTEMPTS):
        try:
            return operation()
        except FileChangedError:
            from time import sleep

            trace.log(f"{display_path} has changed meanwhile: read again")
            sleep(_RETRY_DELAY * 2**attempt)
    raise conflict_error(display_path)


def hard_link_warning(display_path: str) -> str:
    """What to warn of when a file was replaced that had other hard links."""
    return f"{display_path} had other hard links: they keep the old text"


def create(
    path: str,
    data: bytes,
    *,
    executable: bool = False,
    within: str | None = None,
    make_directories: bool = False,
    temporary_file: str = "",
) -> bool:
    """Write a new file, with the folders above it if asked; False, with nothing written, when the name is taken.

    The caller holds a lock; `temporary_file` is what the file is called before it has its name, for a lock on its folder. Raises ChangedMeanwhileError when the file would lie outside `within`, ExecplanError.
    """
    parent, name = os.path.split(path)
    with OpenDirectory(parent, within=within, make=make_directories) as directory:
        temporary_file = temporary_file or temp_file_name(name)
        try:
            directory.unlink(temporary_file)  # what a killed writer has left never had this name
            directory.write(temporary_file, data, 0o777 if executable else 0o666)
            try:
                directory.link(temporary_file, name)
            except FileExistsError:
                return False
            finally:
                directory.unlink(temporary_file)
            try:
                directory.sync()
            except OSError:
                directory.unlink(name)
                raise
        except OSError as error:
            raise file_error(error, path, "write") from None
    return True


def write(path: str, data: bytes, *, within: str | None = None) -> None:
    """Let a file hold these bytes, whatever was there, and make the folders above it; the caller holds a lock.

    Raises ChangedMeanwhileError when the file would lie outside `within`, ExecplanError.
    """
    parent, name = os.path.split(path)
    with OpenDirectory(parent, within=within, make=True) as directory:
        temporary_file = temp_file_name(name)
        try:
            directory.unlink(temporary_file)
            directory.write(temporary_file, data, 0o644)
            directory.rename(temporary_file, directory, name)
            directory.sync()
        except OSError as error:
            raise file_error(error, path, "write") from None


def remove(path: str, old: bytes) -> int:
    """Remove a file and give its mode; raises ChangedMeanwhileError when it does not hold the old bytes.

    A link is kept, what it leads to is removed. The caller holds a lock.
    """
    target = resolve_path(path)
    name = os.path.basename(target)
    with OpenDirectory(os.path.dirname(target)) as directory:
        try:
            status = directory.status(name)
            if status is None or directory.read(name, len(old) + 1) != old:
                raise FileChangedError(path)
            if not stat.S_IMODE(status.st_mode) & 0o222:
                raise read_only_error(path)
            directory.unlink(name)
            directory.sync()
        except OSError as error:
            raise file_error(error, path, "remove") from None
    trace.log(f"removed {target}")
    return stat.S_IMODE(status.st_mode)


def make_directory(path: str, *, within: str | None = None) -> list[str]:
    """Make a folder and those above it; the ones that were made. Raises ChangedMeanwhileError, ExecplanError."""
    if os.path.isdir(path):
        return []
    with OpenDirectory(path, within=within, make=True) as directory:
        return directory.created_paths


def sync_directory(path: str) -> None:
    """Make what was renamed in a folder last; raises ExecplanError."""
    try:
        handle = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise file_error(error, path, "write to") from None


def remove_empty_directory(path: str) -> None:
    """Remove a folder if it holds nothing."""
    try:
        os.rmdir(path)
    except OSError:
        pass


def read_only_error(path: str) -> ExecplanError:
    """The refusal to write to a file that nobody may write to."""
    return ExecplanError("read-only", f"{path} is read-only", exit=ENVIRONMENT, hint=f"chmod u+w {path}")
