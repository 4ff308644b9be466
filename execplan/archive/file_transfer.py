"""Files and folders moved to another place, which may lie on another file system: then copied, compared, removed."""

from __future__ import annotations

import errno
import os
import shutil

from execplan.errors import ENVIRONMENT, INPUT, ExecplanError
from execplan.files import atomic_files, file_access
from execplan.files.open_directory import OpenDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.project.project import Project


def move_path(project: Project, old: str, new: str) -> None:
    """Move a file or a folder to a name that is free; one that had to be copied stays for `clear` to remove.

    A link is made anew, because what it says counts from its folder; one inside a folder is moved as it is, never
    followed. Raises ExecplanError.
    """
    try:
        with (
            OpenDirectory(os.path.dirname(old), within=_boundary(project, old)) as source,
            OpenDirectory(os.path.dirname(new), within=_boundary(project, new), make=True) as target,
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
                _copy_across(old, target, names[1])
    except FileExistsError:
        raise target_taken_error(project.display_path(new)) from None
    except OSError as error:
        raise file_access.file_error(error, old, "move") from None


def _boundary(project: Project, path: str) -> str:
    """What a path must not lead out of: the repository, or the state, which may be outside of it."""
    return os.path.realpath(project.state) if path.startswith(f"{project.state}/") else project.root


def target_taken_error(path: str) -> ExecplanError:
    """The refusal to move something to where something is."""
    hint = "rename one of the two, then try again"
    return ExecplanError("target-taken", f"{path} is there already", exit=INPUT, hint=hint)


def is_fully_copied(old: str, new: str, apart_from: str) -> bool:
    """Whether both are there and the new one holds all that the old one does, as it is while a copy was not cleared.

    What has the name `apart_from` in the two is not looked at.
    """
    if not os.path.lexists(old) or not os.path.lexists(new) or os.path.samefile(old, new):
        return False
    old_states, new_states = _describe_tree(old), _describe_tree(new)
    return all([new_states.get(name) == state for name, state in old_states.items() if name != apart_from])


def remove_copied(project: Project, old: str) -> None:
    """Remove what was copied; raises ExecplanError."""
    try:
        with OpenDirectory(os.path.dirname(old), within=_boundary(project, old)) as folder:
            if os.path.isdir(old) and not os.path.islink(old):
                _remove_tree(folder, os.path.basename(old))
            else:
                folder.unlink(os.path.basename(old))
            folder.sync()
    except OSError as error:
        raise file_access.file_error(error, old, "remove") from None


def _remove_tree(folder: OpenDirectory, name: str) -> None:
    """Remove a folder with all that is in it; one that something is mounted on stays, empty."""
    inner = OpenDirectory(folder.join(name))
    with inner:
        for entry in os.scandir(inner.handle):
            if entry.is_dir(follow_symlinks=False):
                _remove_tree(inner, entry.name)
            else:
                inner.unlink(entry.name)
    try:
        os.rmdir(name, dir_fd=folder.handle)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise


def _copy_across(old: str, target: OpenDirectory, name: str) -> None:
    """A copy under a hidden name, on disk and compared, then under its own; raises OSError and ExecplanError."""
    hidden = atomic_files.temp_file_name(name)
    temporary_path = target.join(hidden)
    if os.path.lexists(temporary_path):
        shutil.rmtree(temporary_path) if os.path.isdir(temporary_path) and not os.path.islink(
            temporary_path
        ) else os.unlink(temporary_path)
    try:
        try:
            if os.path.isdir(old):
                shutil.copytree(old, temporary_path, symlinks=True)
            else:
                shutil.copy2(old, temporary_path, follow_symlinks=False)
        except shutil.Error as error:
            raise _copy_error(old, str(error.args[0][0][2] if error.args and error.args[0] else error)) from None
        _sync_tree(temporary_path)
        if _describe_tree(old) != _describe_tree(temporary_path):
            raise _copy_error(old, "the copy is not the same")
        target.move(hidden, target, name)
        target.sync()
    except BaseException:
        if os.path.isdir(temporary_path):
            shutil.rmtree(temporary_path, ignore_errors=True)
        else:
            target.unlink(hidden)
        raise


def _copy_error(path: str, reason: str) -> ExecplanError:
    return ExecplanError(
        "io-error", f"can't copy {path} to another file system: {reason}", exit=ENVIRONMENT, hint="nothing was changed"
    )


def _sync_tree(path: str) -> None:
    """Have a file, or a folder with all that is in it, on disk."""
    for member in [
        path,
        *[os.path.join(directory, name) for directory, folders, names in os.walk(path) for name in folders + names],
    ]:
        if not os.path.islink(member):
            handle = _open_handle(member)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _open_handle(path: str) -> int:
    """The handle of a file or a folder."""
    if os.path.isdir(path):
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return file_access.open_regular(path)


def _describe_tree(path: str) -> dict[str, tuple[str, ...]]:
    """What is below a path, by its path from there: kind, mode, and what it holds or says."""
    from hashlib import file_digest

    states: dict[str, tuple[str, ...]] = {}
    members = [path]
    for member in members:
        name = os.path.relpath(member, path)
        status = os.lstat(member)
        if os.path.islink(member):
            states[name] = ("link", os.readlink(member))
        elif os.path.isdir(member):
            states[name] = ("folder", oct(status.st_mode))
            members += [os.path.join(member, child) for child in os.listdir(member)]
        else:
            with open(file_access.open_file(member)[0], "rb") as file:
                states[name] = ("file", oct(status.st_mode), file_digest(file, "sha256").hexdigest())
    return states
