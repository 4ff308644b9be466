"""What is not committed: locks and journals, in the worktree's git folder, or in `.agent/.state/` with its own ignore file."""

from __future__ import annotations

import os

from execplan.text.lines import digest
from execplan.text.lock import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project


def lock(project: Project, name: str, holder: str) -> FileLock:
    """The lock of a plan's path, or of the whole home (`project`) or its commits (`commit`)."""
    make_state_dir(project, "locks")
    return FileLock(lock_path(project, name), holder)


def lock_path(project: Project, name: str) -> str:
    """The file that is locked."""
    name = path_key(name) if os.sep in name else name
    return os.path.join(project.state, "locks", f"{name}.lock")


def path_key(path: str) -> str:
    """What a path is called in a folder of the state."""
    return digest(os.fsencode(path))[:16]


def make_state_dir(project: Project, name: str) -> bool:
    """Make a folder of the state; False when it is there already."""
    if os.path.isdir(os.path.join(project.state, name)):
        return False
    from execplan.text.files import make_directory

    was_created = bool(make_directory(os.path.join(project.state, name)))
    if was_created and not project.git and project.exists:
        _write_gitignore(project.state)
    return was_created


def _write_gitignore(folder: str) -> None:
    """Keep the folder out of a repository that is made around it later; many may come here at once."""
    try:
        handle = os.open(os.path.join(folder, ".gitignore"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return
    os.write(handle, b"*\n")
    os.close(handle)
