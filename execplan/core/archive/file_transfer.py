"""Moves of files and directories, also to another file system: copy, compare, then remove."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.open_directory import OpenDirectory
from execplan.core.files.tree_walk import copy_tree, remove_tree, walk_tree
from execplan.core.project.project import Project


def move_path(project: Project, old: str, new: str) -> None:
    """Move a file or directory to a free name; after a copy to another file system, the old one is kept.

    `remove_copied` removes it later. A link is created again, because its target is relative to its directory; a link
    inside a directory is moved unchanged and never followed. Raises ExecplanError.
    """
    try:
        with (
            OpenDirectory(os.path.dirname(old), within=_boundary(project, old)) as source,
            OpenDirectory(os.path.dirname(new), within=_boundary(project, new), make=True) as target,
        ):
            names = os.path.basename(old), os.path.basename(new)
            if os.path.islink(old):
                os.symlink(
                    os.path.relpath(os.path.realpath(old), target.path), target.operand(names[1]), dir_fd=target.handle
                )
                source.unlink(names[0])
                return
            try:
                if os.path.lexists(new) and os.path.samefile(old, new):  # the path differs only in case
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
    """Return the directory that a path must not leave: the repository, or the state, which may be outside of it."""
    return os.path.realpath(project.state) if path.startswith(f"{project.state}/") else project.root


def target_taken_error(path: str) -> ExecplanError:
    """Build the error for a move to a path that already exists."""
    hint = "rename one of the two, then try again; if both are of one plan, see how to merge them: execplan doctor"
    return ExecplanError("target-taken", f"{path} already exists", hint=hint)


def is_fully_copied(old: str, new: str, apart_from: Collection[str]) -> bool:
    """Return whether both paths exist and the new one has all content of the old one, as before the old one is removed.

    Entries whose name is in `apart_from` are ignored.
    """
    if not os.path.lexists(old) or not os.path.lexists(new) or os.path.samefile(old, new):
        return False
    old_states, new_states = _describe_tree(old), _describe_tree(new)
    return all([new_states.get(name) == state for name, state in old_states.items() if name not in apart_from])


def remove_copied(project: Project, old: str) -> None:
    """Remove the original of a completed copy; raises ExecplanError."""
    try:
        with OpenDirectory(os.path.dirname(old), within=_boundary(project, old)) as folder:
            if os.path.isdir(old) and not os.path.islink(old):
                remove_tree(old, _keep_mount_point)
            else:
                folder.unlink(os.path.basename(old))
            folder.sync()
    except OSError as error:
        raise file_access.file_error(error, old, "remove") from None


def _keep_mount_point(error: OSError) -> None:
    """Raise an error of a removal, unless the directory is a mount point, which is emptied but kept."""
    if error.errno != errno.EBUSY:
        raise error


def _copy_across(old: str, target: OpenDirectory, name: str) -> None:
    """Copy under a hidden name, sync and compare, then rename to the final name; raises OSError and ExecplanError."""
    hidden = atomic_files.temp_file_name(name)
    temporary_path = target.join(hidden)
    if os.path.lexists(temporary_path):
        is_directory = os.path.isdir(temporary_path) and not os.path.islink(temporary_path)
        (remove_tree if is_directory else os.unlink)(temporary_path)
    try:
        try:
            if os.path.isdir(old):
                copy_tree(old, temporary_path)
            else:
                shutil.copy2(old, temporary_path, follow_symlinks=False)
        except OSError as error:
            raise _copy_error(old, str(error)) from None
        _sync_tree(temporary_path)
        if _describe_tree(old) != _describe_tree(temporary_path):
            raise _copy_error(old, "the copy is different")
        target.move(hidden, target, name)
        target.sync()
    except BaseException:
        if os.path.isdir(temporary_path):
            remove_tree(temporary_path, lambda _: None)
        else:
            target.unlink(hidden)
        raise


def _copy_error(path: str, reason: str) -> ExecplanError:
    return ExecplanError("io-error", f"can't copy {path} to another file system: {reason}", hint="nothing was changed")


def _sync_tree(path: str) -> None:
    """Sync a file, or a directory with all its content, to disk."""
    for member in [
        path,
        *[os.path.join(directory, name) for directory, folders, names in walk_tree(path) for name in folders + names],
    ]:
        if not os.path.islink(member):
            file_access.sync_path(member)


def _describe_tree(path: str) -> dict[str, tuple[str, ...]]:
    """Map each path under `path`, relative to it, to its kind, its mode and its content digest or link target."""
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
