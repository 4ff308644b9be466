"""State of a git directory, read without a git process: the checked-out commit, and an operation in progress."""

from __future__ import annotations

import os

from execplan.core.files import file_access
from execplan.core.project.project import common_git_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.project.project import Project

REMOTE_REFS = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master")
LOCAL_REFS = ("refs/heads/main", "refs/heads/master", "refs/heads/trunk")
_IN_PROGRESS = {
    "MERGE_HEAD": ("a merge", "git commit --no-edit"),
    "rebase-merge": ("a rebase", "git -c core.editor=true rebase --continue"),
    "rebase-apply/applying": ("git am", "git am --continue"),
    "rebase-apply": ("a rebase", "git -c core.editor=true rebase --continue"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "git -c core.editor=true cherry-pick --continue"),
    "REVERT_HEAD": ("a revert", "git -c core.editor=true revert --continue"),
}
"""Files in a git directory, with the operation that each shows and the command that finishes it, without an editor."""


def head_commit(project: Project) -> str | None:
    """Return the ID of the checked-out commit, read from the git directory; None before the first commit."""
    if project.git is None:
        return None
    branch = current_branch(project.git)
    if branch is None:
        return _read_first_line(os.path.join(project.git, "HEAD"))
    main = common_git_dir(project.git)
    for folder in (project.git, main):
        if commit_id := _read_first_line(os.path.join(folder, branch)):
            return commit_id
    try:
        with open(
            file_access.open_regular(os.path.join(main, "packed-refs")), encoding="utf-8", errors="surrogateescape"
        ) as file:
            for line in file:
                digest, _, name = line.strip().partition(" ")
                if name == branch:
                    return digest
    except OSError:
        pass
    return None


def operation_in_progress(folder: str) -> str | None:
    """Return the unfinished merge, rebase or similar operation in a git directory, or None."""
    state = _state_in_progress(folder)
    return state[0] if state is not None else None


def finishing_command(folder: str) -> str:
    """Return the command that finishes the operation in a git directory; empty without one."""
    state = _state_in_progress(folder)
    return state[1] if state is not None else ""


def _state_in_progress(folder: str) -> tuple[str, str] | None:
    return next((state for name, state in _IN_PROGRESS.items() if os.path.exists(os.path.join(folder, name))), None)


def current_branch(folder: str) -> str | None:
    """Return the full name of the checked-out branch, or None for a detached HEAD."""
    line = _read_first_line(os.path.join(folder, "HEAD")) or ""
    return line[5:].strip() if line.startswith("ref:") else None


def _read_first_line(path: str) -> str | None:
    try:
        with open(file_access.open_regular(path), encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(5000).strip() or None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None


def is_partial(project: Project) -> bool:
    """Return whether the repository may lack objects of its commits, after `git clone --filter`."""
    if project.git is None:
        return False
    try:
        names = os.listdir(os.path.join(common_git_dir(project.git), "objects", "pack"))
    except OSError:
        return False
    return any([name.endswith(".promisor") for name in names])


def is_shallow(project: Project) -> bool:
    """Return whether the repository lacks the commits before some of its commits, after `git clone --depth`."""
    return project.git is not None and os.path.lexists(os.path.join(common_git_dir(project.git), "shallow"))
