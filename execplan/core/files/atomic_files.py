"""Atomic creation, replacement and removal of files: readers see the old or new bytes, and no other edit is lost."""

from __future__ import annotations

import os
import stat

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import FileChangedError, conflict_error, file_error, resolve_path, sync_path
from execplan.core.files.open_directory import DirectoryHandle, OpenDirectory
from execplan.core.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

_MAX_ATTEMPTS = 8
_RETRY_DELAY = 0.005
"""Seconds before the first retry after a file has changed; the delay doubles with each retry."""


class BackupWriter:
    """A place for overwritten bytes that this program has not read; by default a file next to the original."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def has_copy(self, path: str, data: bytes) -> bool:
        """Return whether the bytes are a version of the file that is already stored elsewhere."""
        return False

    def save_copy(self, path: str, data: bytes) -> None:
        """Save the bytes as a backup copy and add a warning that names it; raises ExecplanError."""
        number = 1
        while not create(backup_path := f"{path}.displaced-{number}", data):
            number += 1
        self.warnings.append(
            f"an earlier version of {path} is saved in {backup_path}: remove it if {path} has everything from it"
        )


def replace_if_unchanged(
    path: str,
    old: bytes | None,
    new: bytes,
    *,
    within: str | None = None,
    make_directories: bool = False,
    backup_writer: BackupWriter | None = None,
) -> bool:
    """Replace the old bytes of a file with new ones; keep mode and owner, follow links.

    If the old bytes are None, the file must not exist, and is created; `make_directories` is only for that case.
    Return whether the file had other hard links, which keep the old bytes. On any failure the old bytes stay in place.
    The caller holds a lock. To handle programs that take no lock, the two files are exchanged in one step, and then the
    overwritten bytes are checked; if they are not the old ones, they are put back.
    Raises FileChangedError if the file does not contain the old bytes or is now outside `within`, and ExecplanError for
    any other failure.
    """
    if old is None:
        if not create(path, new, within=within, make_directories=make_directories):
            raise FileChangedError(path)
        return False
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
            directory.write(temporary_file, new, stat.S_IMODE(status.st_mode), owner=status, ignores_umask=True)
            has_other_links = _swap_in(directory, temporary_file, name, old, new, backup_writer or BackupWriter())
        except OSError as error:
            raise file_error(error, path, "write") from None
    trace.log(f"replaced {target}")
    return has_other_links


def _swap_in(
    directory: DirectoryHandle, temporary_file: str, name: str, old: bytes, new: bytes, backup_writer: BackupWriter
) -> bool:
    """Move the new file to its final name and return whether the old file had other hard links.

    No temporary file remains next to it, even on failure.
    """
    try:
        if directory.read(name, len(old) + 1) != old:
            raise FileChangedError(directory.join(name))
        status = directory.status(name)  # a killed `create`'s leftover, a second link, is gone
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
    except OSError as error:  # the new text is in place: the next writer removes the old file
        trace.log(f"{directory.join(temporary_file)} could not be removed: {error}")
    return status is not None and status.st_nlink > 1


def _undo_swap(
    directory: DirectoryHandle, temporary_file: str, name: str, new: bytes, backup_writer: BackupWriter
) -> None:
    """Restore the overwritten file, if there is one, and remove the new file."""
    if directory.read(temporary_file, len(new) + 1) != new:
        directory.exchange(temporary_file, name)
        if (
            directory.read(temporary_file, len(new) + 1) != new
        ):  # another program has saved over the new file since: its version is the newest
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
    """Remove the temporary file that a killed writer has left next to a file, and save unknown bytes.

    The caller holds a lock. Raises FileChangedError if the file is now outside `within`, and ExecplanError for any
    other failure.
    """
    if not has_leftover(path):
        return
    directory_path, name = os.path.split(resolve_path(path))
    with OpenDirectory(directory_path, within=within) as directory:
        try:
            _clear_temporary(directory, name, known_versions, backup_writer or BackupWriter())
        except OSError as error:
            raise file_error(error, path, "clean up next to") from None


def has_leftover(path: str) -> bool:
    """Return whether a file has a temporary file next to it, from a running writer or a killed one."""
    directory, name = os.path.split(resolve_path(path))
    return os.path.lexists(os.path.join(directory, temp_file_name(name)))


def _clear_temporary(
    directory: DirectoryHandle, name: str, known_versions: tuple[bytes, ...], backup_writer: BackupWriter
) -> str:
    """Return the name of a file's temporary file after removing one that a killed writer has left."""
    # Each file has one temporary name: the next writer finds a killed writer's leftover under the same lock.
    temporary_file = temp_file_name(name)
    status = directory.status(temporary_file)
    if status is not None:
        leftover = _read_file(directory, temporary_file)
        path = directory.join(name)
        is_known = any(
            [version.startswith(leftover) for version in known_versions]
        )  # a killed writer may have written only a part
        if status.st_nlink == 1 and not is_known and leftover and not backup_writer.has_copy(path, leftover):
            backup_writer.save_copy(path, leftover)
        directory.unlink(temporary_file)
    return temporary_file


def temp_file_name(name: str) -> str:
    """Return the name of a file's temporary file; the leading dot hides it."""
    return f".execplan-{digest(os.fsencode(name))[:16]}.tmp"


def _read_file(directory: DirectoryHandle, name: str) -> bytes:
    return directory.read(name, 1 << 30)


def retry_on_change(operation: Callable[[], T], display_path: str) -> T:
    """Run an operation that reads and replaces a file, and retry it if the file changes in between.

    Raises ExecplanError if the file changes on every attempt.
    """
    for attempt in range(_MAX_ATTEMPTS):
        try:
            return operation()
        except FileChangedError:
            from time import sleep

            trace.log(f"{display_path} has changed: reading it again")
            sleep(_RETRY_DELAY * 2**attempt)
    raise conflict_error(display_path)


def hard_link_warning(display_path: str) -> str:
    """Return the warning for a replaced file that had other hard links."""
    return f"{display_path} had other hard links; they keep the old content"


def create(
    path: str,
    data: bytes,
    *,
    mode: int = 0o666,
    within: str | None = None,
    make_directories: bool = False,
    temporary_file: str = "",
) -> bool:
    """Write a new file, and its parent directories if requested; return False and write nothing if the name exists.

    The caller holds a lock. `temporary_file` is the temporary name, for callers that lock the directory; the umask is
    applied to `mode`.
    Raises FileChangedError if the file would be outside `within`, and ExecplanError for any other failure.
    """
    parent, name = os.path.split(path)
    with OpenDirectory(parent, within=within, make=make_directories) as directory:
        temporary_file = temporary_file or temp_file_name(name)
        try:
            directory.unlink(temporary_file)  # a killed writer's leftover is not a version of this file
            directory.write(temporary_file, data, mode)
            try:
                directory.link(temporary_file, directory, name)
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


def replace(
    path: str,
    data: bytes,
    *,
    within: str | None = None,
    mode: int = 0o644,
    durable: bool = True,
    is_locked: bool = True,
) -> None:
    """Write a file, replacing any previous content or link, and create its parent directories.

    Without `durable`, readers still see the old or the new bytes, but a crash of the machine may leave the file empty.
    The caller holds a lock unless `is_locked` is false. The umask is applied to `mode`.
    Raises FileChangedError if the file would be outside `within`, and ExecplanError for any other failure.
    """
    parent, name = os.path.split(path)
    temporary_file = temp_file_name(name) if is_locked else f"{name}.{os.getpid()}.tmp"
    with OpenDirectory(parent, within=within, make=True) as directory:
        try:
            directory.replace(
                name,
                temporary_file,
                lambda: directory.write(temporary_file, data, mode, durable=durable),
                durable=durable,
            )
        except OSError as error:
            raise file_error(error, path, "write") from None


def remove(path: str, old: bytes) -> int:
    """Remove a file and return its mode; raises FileChangedError if it does not contain the old bytes.

    For a symbolic link, the target is removed and the link is kept. The caller holds a lock.
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
    """Create a directory and its parents, and return those created; raises FileChangedError or ExecplanError."""
    if os.path.isdir(path):
        return []
    with OpenDirectory(path, within=within, make=True) as directory:
        return directory.created_paths


def sync_directory(path: str) -> None:
    """Flush a directory to disk so that renames in it survive a crash; raises ExecplanError."""
    try:
        sync_path(path or ".", together=True)
    except OSError as error:
        raise file_error(error, path, "write to") from None


def remove_empty_directory(path: str) -> None:
    """Remove a directory if it is empty."""
    try:
        os.rmdir(path)
    except OSError:
        pass


def read_only_error(path: str) -> ExecplanError:
    """Return the error for a write to a read-only file."""
    return ExecplanError("read-only", f"{path} is read-only", hint=f"make it writable: chmod u+w {path}")
