"""Files replaced, made and removed so that a reader sees the old bytes or the new ones, and no others are lost."""

from __future__ import annotations

import os
import stat

from execplan import trace
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.text.disk import ChangedMeanwhileError, changed_underneath, real, trouble
from execplan.text.folder import Folder
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

_TRIES = 8
_PAUSE = 0.005
"""Seconds before a file that changed is read again, the first time; then twice as long, and so on."""


class Spare:
    """Where bytes go that a replacement displaced and nobody has read: by default, beside the file."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def knows(self, path: str, data: bytes) -> bool:
        """Whether the bytes are a version of the file that is kept elsewhere."""
        return False

    def keep(self, path: str, data: bytes) -> None:
        """Keep the bytes, and warn of where; raises ExecplanError."""
        number = 1
        while not create(kept := f"{path}.displaced-{number}", data):
            number += 1
        self.warnings.append(f"an earlier version of {path} is kept in {kept}: remove it if {path} lacks nothing of it")


def replace(path: str, old: bytes, new: bytes, *, within: str | None = None, spare: Spare | None = None) -> bool:
    """Put new bytes in place of the old ones, mode and owner kept, links followed; on any failure the old bytes stay.

    True when the file had other hard links, which keep the old bytes. The caller holds a lock; for those who ask for
    none the two files change places in one step, and what was displaced is looked at: other bytes than the old ones go
    back. Raises ChangedMeanwhileError when the file does not hold the old bytes or lies outside `within` by now,
    ExecplanError for all else.
    """
    target = real(path)
    name = os.path.basename(target)
    with Folder(os.path.dirname(target), within=within) as folder:
        try:
            status = folder.status(name)
            if status is None or not stat.S_ISREG(status.st_mode):
                raise ChangedMeanwhileError(path)
            if not stat.S_IMODE(status.st_mode) & 0o222:
                raise read_only(path)
            beside = _tidy(folder, name, (old, new), spare or Spare())
            folder.write(beside, new, 0o600, like=status)
            linked = _swap(folder, beside, name, old, new, spare or Spare())
        except OSError as error:
            raise trouble(error, path, "write") from None
    trace.tell(f"replaced {target}")
    return linked


def _swap(folder: Folder, beside: str, name: str, old: bytes, new: bytes, spare: Spare) -> bool:
    """Let the new file take the name; whether the old one has others. Leaves nothing beside it, whatever happens."""
    try:
        if folder.read(name, len(old) + 1) != old:
            raise ChangedMeanwhileError(folder.join(name))
        status = folder.status(name)  # by now without the leftover of a `create` that was killed
        if not folder.exchange(beside, name):
            folder.rename(beside, folder, name)
        elif folder.read(beside, len(old) + 1) != old:
            raise ChangedMeanwhileError(folder.join(name))
        folder.sync()
    except BaseException:
        if folder.status(beside) is not None:
            _swap_back(folder, beside, name, new, spare)
        raise
    try:
        folder.unlink(beside)
    except OSError as error:  # the new text is in its place: the next writer removes the old one
        trace.tell(f"{folder.join(beside)} could not be removed: {error}")
    return status is not None and status.st_nlink > 1


def _swap_back(folder: Folder, beside: str, name: str, new: bytes, spare: Spare) -> None:
    """Let what was displaced, if anything was, have its name again, and remove the new file."""
    if folder.read(beside, len(new) + 1) != new:
        folder.exchange(beside, name)
        if folder.read(beside, len(new) + 1) != new:  # somebody has saved over ours since: that is the newer one
            folder.exchange(beside, name)
            spare.keep(folder.join(name), _all(folder, beside))
    folder.unlink(beside)


def tidy(path: str, known: tuple[bytes, ...] = (), *, within: str | None = None, spare: Spare | None = None) -> None:
    """Remove what a killed writer has left beside a file; bytes that nobody has read are kept. The caller holds a lock.

    Raises ChangedMeanwhileError when the file lies outside `within` by now, ExecplanError.
    """
    if not is_untidy(path):
        return
    folder, name = os.path.split(real(path))
    with Folder(folder, within=within) as held:
        try:
            _tidy(held, name, known, spare or Spare())
        except OSError as error:
            raise trouble(error, path, "tidy up beside") from None


def is_untidy(path: str) -> bool:
    """Whether something is beside a file that a writer needs while it writes, or has left."""
    folder, name = os.path.split(real(path))
    return os.path.lexists(os.path.join(folder, temporary(name)))


def _tidy(folder: Folder, name: str, known: tuple[bytes, ...], spare: Spare) -> str:
    """The name under which a file is written before it takes another's; free, whatever a killed writer has left there."""
    # One name for each file: what a killed writer has left is found by the next one, under the same lock.
    beside = temporary(name)
    status = folder.status(beside)
    if status is not None:
        left = _all(folder, beside)
        path = folder.join(name)
        is_known = any([each.startswith(left) for each in known])  # a writer that was killed may have written a part
        if status.st_nlink == 1 and not is_known and left and not spare.knows(path, left):
            spare.keep(path, left)
        folder.unlink(beside)
    return beside


def temporary(name: str) -> str:
    """What a file is called while it is written; its leading dot hides it."""
    return f".execplan-{digest(os.fsencode(name))[:16]}.tmp"


def _all(folder: Folder, name: str) -> bytes:
    return folder.read(name, 1 << 30)


def again(work: Callable[[], T], shown: str) -> T:
    """Do what reads a file and replaces it, anew when the file was changed between the two; raises ExecplanError."""
    for turn in range(_TRIES):
        try:
            return work()
        except ChangedMeanwhileError:
            from time import sleep

            trace.tell(f"{shown} has changed meanwhile: read again")
            sleep(_PAUSE * 2**turn)
    raise changed_underneath(shown)


def still_linked(shown: str) -> str:
    """What to warn of when a file was replaced that had other hard links."""
    return f"{shown} had other hard links: they keep the old text"


def create(
    path: str,
    data: bytes,
    *,
    executable: bool = False,
    within: str | None = None,
    folders: bool = False,
    beside: str = "",
) -> bool:
    """Write a new file, with the folders above it if asked; False, with nothing written, when the name is taken.

    The caller holds a lock; `beside` is what the file is called before it has its name, for a lock on its folder. Raises ChangedMeanwhileError when the file would lie outside `within`, ExecplanError.
    """
    above, name = os.path.split(path)
    with Folder(above, within=within, make=folders) as folder:
        beside = beside or temporary(name)
        try:
            folder.unlink(beside)  # what a killed writer has left never had this name
            folder.write(beside, data, 0o777 if executable else 0o666)
            try:
                folder.link(beside, name)
            except FileExistsError:
                return False
            finally:
                folder.unlink(beside)
            try:
                folder.sync()
            except OSError:
                folder.unlink(name)
                raise
        except OSError as error:
            raise trouble(error, path, "write") from None
    return True


def put(path: str, data: bytes, *, within: str | None = None) -> None:
    """Let a file hold these bytes, whatever was there, and make the folders above it; the caller holds a lock.

    Raises ChangedMeanwhileError when the file would lie outside `within`, ExecplanError.
    """
    above, name = os.path.split(path)
    with Folder(above, within=within, make=True) as folder:
        beside = temporary(name)
        try:
            folder.unlink(beside)
            folder.write(beside, data, 0o644)
            folder.rename(beside, folder, name)
            folder.sync()
        except OSError as error:
            raise trouble(error, path, "write") from None


def remove(path: str, old: bytes) -> int:
    """Remove a file and give its mode; raises ChangedMeanwhileError when it does not hold the old bytes.

    A link is kept, what it leads to is removed. The caller holds a lock.
    """
    target = real(path)
    name = os.path.basename(target)
    with Folder(os.path.dirname(target)) as folder:
        try:
            status = folder.status(name)
            if status is None or folder.read(name, len(old) + 1) != old:
                raise ChangedMeanwhileError(path)
            if not stat.S_IMODE(status.st_mode) & 0o222:
                raise read_only(path)
            folder.unlink(name)
            folder.sync()
        except OSError as error:
            raise trouble(error, path, "remove") from None
    trace.tell(f"removed {target}")
    return stat.S_IMODE(status.st_mode)


def make_folder(path: str, *, within: str | None = None) -> list[str]:
    """Make a folder and those above it; the ones that were made. Raises ChangedMeanwhileError, ExecplanError."""
    if os.path.isdir(path):
        return []
    with Folder(path, within=within, make=True) as folder:
        return folder.made


def sync_folder(path: str) -> None:
    """Make what was renamed in a folder last; raises ExecplanError."""
    try:
        handle = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise trouble(error, path, "write to") from None


def remove_empty(path: str) -> None:
    """Remove a folder if it holds nothing."""
    try:
        os.rmdir(path)
    except OSError:
        pass


def read_only(path: str) -> ExecplanError:
    """The refusal to write to a file that nobody may write to."""
    return ExecplanError("read-only", f"{path} is read-only", exit=ENVIRONMENT, hint=f"chmod u+w {path}")
