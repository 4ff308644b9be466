"""Uncommitted state: locks and journals, in the worktree's git directory, or in a self-ignoring `.agent/.state/`."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.text.text_lines import digest
from execplan.core.trace import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.core.files.file_lock import FileLock
    from execplan.core.project.project import Project


FORMAT: Final = 1
"""Format of the state directory; a later format has its number in the file `format` there."""


def find_format(project: Project) -> int:
    """Return the format of a project's state directory. Raises ExecplanError if it can't be read."""
    text = (file_access.read_if_exists(os.path.join(project.state, "format"), 9) or b"").strip()
    return int(text) if text.isdigit() else FORMAT


def lock(project: Project, name: str, holder: str) -> FileLock:
    """Return the lock for a plan's path, for the project (`project`), its commits (`commit`) or its files (`change`)."""
    from execplan.core.files.file_lock import FileLock

    if (state_format := find_format(project)) > FORMAT:
        message = f"{project.state} has the format {state_format} of a newer execplan; this one knows only {FORMAT}"
        hint = "nothing was written; see how to upgrade: execplan self check"
        raise ExecplanError("newer-state", message, hint=hint)
    make_state_dir(project, "locks")
    return FileLock(lock_path(project, name), holder)


def lock_path(project: Project, name: str) -> str:
    """Return the path of a lock file."""
    name = path_key(name) if os.sep in name else name
    return os.path.join(project.state, "locks", f"{name}.lock")


def path_key(path: str) -> str:
    """Return the name of a path in a state directory, which is a digest."""
    return digest(os.fsencode(path))[:16]


def adopt_state(project: Project) -> None:
    """Move the state from before `git init` into the git directory, so that what was done can still be undone."""
    earlier = project._replace(git=None)
    if project.root == project.base and not os.path.lexists(project.state):
        try:
            os.rename(earlier.state, project.state)
        except OSError as error:
            log(f"couldn't move {earlier.state} to {project.state}: {error}")


def make_state_dir(project: Project, name: str) -> bool:
    """Create a state directory; return False if it already exists. Raises ExecplanError for a read-only project."""
    if project.is_read_only:
        raise read_only_error(project)
    if os.path.isdir(os.path.join(project.state, name)):
        return False
    from execplan.core.files.atomic_files import make_directory

    was_created = bool(make_directory(os.path.join(project.state, name)))
    if was_created and not project.git and project.exists:
        _write_gitignore(project.state)
    return was_created


def make_cache_dir(project: Project, name: str) -> str:
    """Create a directory for caches if needed, and return its path. Raises ExecplanError if that fails."""
    directory = os.path.join(project.caches, name)
    if not project.is_read_only:
        make_state_dir(project, name)
    elif not os.path.isdir(directory):
        from execplan.core.files.atomic_files import make_directory

        make_directory(directory)
    return directory


def cache_lock(project: Project, name: str, holder: str) -> FileLock:
    """Return the lock of everyone who writes a cache of a project. Raises ExecplanError if its directory can't be made."""
    from execplan.core.files.file_lock import FileLock

    return FileLock(os.path.join(make_cache_dir(project, "locks"), f"{name}.lock"), holder)


def read_only_error(project: Project) -> ExecplanError:
    """Return the error for a write to a project that is only read."""
    from shlex import quote

    hint = f"work there: execplan -C {quote(project.base)} status"
    return ExecplanError("other-project", f"{project.base} is another project, which is only read here", hint=hint)


def _write_gitignore(folder: str) -> None:
    """Keep the directory out of a repository that is created around it later; safe with concurrent writers."""
    try:
        handle = os.open(os.path.join(folder, ".gitignore"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return
    os.write(handle, b"*\n")
    os.close(handle)


PLAN_STATE_DIR: Final = "plans"
PATH_FILE: Final = "path"
"""File with the path of the plan, relative to the root of the repository or the project."""


def plan_state_dir(project: Project, path: str) -> str:
    """Return the state directory of the plan at a path; a file in it named after a run marks the run as this plan's."""
    return os.path.join(project.state, PLAN_STATE_DIR, path_key(file_access.resolve_path(path)))


def make_plan_state_dir(project: Project, path: str) -> str:
    """Create the state directory of a plan if needed, with the plan's path in it. Raises ExecplanError on failure."""
    directory = plan_state_dir(project, path)
    if not os.path.lexists(os.path.join(directory, PATH_FILE)):
        from execplan.core.files import atomic_files

        make_state_dir(project, PLAN_STATE_DIR)
        atomic_files.make_directory(directory)
        atomic_files.create(os.path.join(directory, PATH_FILE), _encode_plan_path(project, path))
    return directory


def list_plan_state_dirs(project: Project) -> list[tuple[str, str]]:
    """Return the state directory of every plan with the plan's path, even if the plan no longer exists."""
    directories = []
    parent = os.path.join(project.state, PLAN_STATE_DIR)
    for name in sorted(os.listdir(parent)) if os.path.isdir(parent) else ():
        try:
            with open(file_access.open_regular(os.path.join(parent, name, PATH_FILE)), "rb") as file:
                plan_path = os.fsdecode(file.read(1 << 14))
        except OSError:
            continue
        directories.append((os.path.join(parent, name), os.path.normpath(os.path.join(project.path_base, plan_path))))
    return directories


def move_plan_state(project: Project, old: str, new: str) -> None:
    """Move a plan's state directory along with the plan, replacing the state of an earlier plan. Never fails."""
    source, target = plan_state_dir(project, old), plan_state_dir(project, new)
    if source == target or not os.path.isdir(source):
        return
    from execplan.core.files import atomic_files
    from execplan.core.files.tree_walk import remove_tree

    try:
        remove_tree(target, lambda _: None)
        os.rename(source, target)
        atomic_files.replace(os.path.join(target, PATH_FILE), _encode_plan_path(project, new), mode=0o666)
    except (OSError, ExecplanError) as error:
        log(f"couldn't move {source} with its plan: {error}")


def _encode_plan_path(project: Project, path: str) -> bytes:
    return os.fsencode(os.path.relpath(file_access.resolve_path(path), os.path.realpath(project.path_base)))
