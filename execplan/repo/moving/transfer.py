"""Files and folders moved to another place, which may lie on another file system: then copied, compared, removed."""

from __future__ import annotations

import errno
import os
import shutil

from execplan.errors import ENVIRONMENT, INPUT, ExecplanError
from execplan.text import disk, files
from execplan.text.folder import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home


def transfer(home: Home, old: str, new: str) -> None:
    """Move a file or a folder to a name that is free; one that had to be copied stays for `clear` to remove.

    A link is made anew, because what it says counts from its folder; one inside a folder is moved as it is, never
    followed. Raises ExecplanError.
    """
    try:
        with (
            Folder(os.path.dirname(old), within=_within(home, old)) as source,
            Folder(os.path.dirname(new), within=_within(home, new), make=True) as target,
        ):
            names = os.path.basename(old), os.path.basename(new)
            if os.path.islink(old):
                os.symlink(os.path.relpath(os.path.realpath(old), target.path), names[1], dir_fd=target.handle)
                source.unlink(names[0])
                return
            try:
                if os.path.lexists(new) and os.path.samefile(old, new):  # another spelling, where case is none
                    source.rename(names[0], target, names[1])
                else:
                    source.move(names[0], target, names[1])
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                _copy(old, target, names[1])
    except FileExistsError:
        raise taken(home.shown(new)) from None
    except OSError as error:
        raise disk.trouble(error, old, "move") from None


def _within(home: Home, path: str) -> str:
    """What a path must not lead out of: the repository, or the state, which may be outside of it."""
    return os.path.realpath(home.state) if path.startswith(f"{home.state}/") else home.root


def taken(path: str) -> ExecplanError:
    """The refusal to move something to where something is."""
    hint = "rename one of the two, then try again"
    return ExecplanError("target-taken", f"{path} is there already", exit=INPUT, hint=hint)


def is_copied(old: str, new: str, apart_from: str) -> bool:
    """Whether both are there and the new one holds all that the old one does, as it is while a copy was not cleared.

    What has the name `apart_from` in the two is not looked at.
    """
    if not os.path.lexists(old) or not os.path.lexists(new) or os.path.samefile(old, new):
        return False
    one, two = _looks(old), _looks(new)
    return all([two.get(name) == look for name, look in one.items() if name != apart_from])


def clear(home: Home, old: str) -> None:
    """Remove what was copied; raises ExecplanError."""
    try:
        with Folder(os.path.dirname(old), within=_within(home, old)) as folder:
            if os.path.isdir(old) and not os.path.islink(old):
                _empty(folder, os.path.basename(old))
            else:
                folder.unlink(os.path.basename(old))
            folder.sync()
    except OSError as error:
        raise disk.trouble(error, old, "remove") from None


def _empty(folder: Folder, name: str) -> None:
    """Remove a folder with all that is in it; one that something is mounted on stays, empty."""
    inner = Folder(folder.join(name))
    with inner:
        for each in os.scandir(inner.handle):
            if each.is_dir(follow_symlinks=False):
                _empty(inner, each.name)
            else:
                inner.unlink(each.name)
    try:
        os.rmdir(name, dir_fd=folder.handle)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise


def _copy(old: str, target: Folder, name: str) -> None:
    """A copy under a hidden name, on disk and compared, then under its own; raises OSError and ExecplanError."""
    hidden = files.temporary(name)
    beside = target.join(hidden)
    if os.path.lexists(beside):
        shutil.rmtree(beside) if os.path.isdir(beside) and not os.path.islink(beside) else os.unlink(beside)
    try:
        try:
            if os.path.isdir(old):
                shutil.copytree(old, beside, symlinks=True)
            else:
                shutil.copy2(old, beside, follow_symlinks=False)
        except shutil.Error as error:
            raise _no_copy(old, str(error.args[0][0][2] if error.args and error.args[0] else error)) from None
        _sync(beside)
        if _looks(old) != _looks(beside):
            raise _no_copy(old, "the copy is not the same")
        target.move(hidden, target, name)
        target.sync()
    except BaseException:
        if os.path.isdir(beside):
            shutil.rmtree(beside, ignore_errors=True)
        else:
            target.unlink(hidden)
        raise


def _no_copy(path: str, why: str) -> ExecplanError:
    return ExecplanError(
        "io-error", f"can't copy {path} to another file system: {why}", exit=ENVIRONMENT, hint="nothing was changed"
    )


def _sync(path: str) -> None:
    """Have a file, or a folder with all that is in it, on disk."""
    for place in [
        path,
        *[os.path.join(above, name) for above, folders, names in os.walk(path) for name in folders + names],
    ]:
        if not os.path.islink(place):
            handle = _handle(place)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _handle(path: str) -> int:
    """The handle of a file or a folder."""
    if os.path.isdir(path):
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return disk.open_regular(path)


def _looks(path: str) -> dict[str, tuple[str, ...]]:
    """What is below a path, by its path from there: kind, mode, and what it holds or says."""
    from hashlib import file_digest

    looks: dict[str, tuple[str, ...]] = {}
    places = [path]
    for place in places:
        name = os.path.relpath(place, path)
        status = os.lstat(place)
        if os.path.islink(place):
            looks[name] = ("link", os.readlink(place))
        elif os.path.isdir(place):
            looks[name] = ("folder", oct(status.st_mode))
            places += [os.path.join(place, each) for each in os.listdir(place)]
        else:
            with open(disk.open_file(place)[0], "rb") as file:
                looks[name] = ("file", oct(status.st_mode), file_digest(file, "sha256").hexdigest())
    return looks
