"""Commits that finish git's operation, such as a merge that a person began: the agent answers for its own resolution.

What git has merged without a conflict was asked for by whoever began the operation.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.git.git_directory import operation_in_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.project.project import Project

NO_EDIT = "--no-edit"
KEPT_MESSAGE = ["-c", "core.editor=true"]
"""Options of git with which it keeps a commit's message instead of starting an editor."""
_CONTINUED = ("rebase", "cherry-pick", "revert")
_MERGED_TREE = "AUTO_MERGE"
"""File in the git directory that names the tree of git's own merge, with conflict markers."""
_REMAINING = os.path.join("rebase-merge", "git-rebase-todo")
_RUNS = (b"exec", b"x")
_MAX_REMAINING = 1 << 20
"""Maximum size of that file, in bytes; a larger one is not read."""


def is_operating(project: Project) -> bool:
    """Return whether git has an unfinished operation, whose commit has a message."""
    return project.git is not None and operation_in_progress(project.git) is not None


def is_continuation(git_args: Sequence[str]) -> bool:
    """Return whether git's arguments continue an operation, and do nothing else."""
    return len(git_args) == 2 and git_args[0] in _CONTINUED and git_args[1] == "--continue"


def continuation_problem(project: Project, git_args: Sequence[str], *, keeps_message: bool) -> str:
    """Return why an agent may not continue git's operation, whatever is staged; empty if it may. Raises ExecplanError."""
    if not keeps_message:
        return f"`git {' '.join(git_args)}` would start an editor: git {' '.join([*KEPT_MESSAGE, *git_args])}"
    if not is_operating(project):
        return "git has no operation to continue"
    path = os.path.join(project.git or "", _REMAINING)
    data, size = file_access.read(path, _MAX_REMAINING) if os.path.lexists(path) else (b"", 0)
    words = [line.split(maxsplit=1)[:1] for line in data.split(b"\n")]
    runs_commands = size > _MAX_REMAINING or any([word in ([name] for name in _RUNS) for word in words])
    return "the rest of the rebase runs commands: a person continues it" if runs_commands else ""


def staged_paths(project: Project) -> list[str]:
    """Return the staged files that differ from what git itself has merged, or if there are none, all staged files.

    Raises ExecplanError if git fails.
    """
    if project.git is not None and is_operating(project) and os.path.isfile(os.path.join(project.git, _MERGED_TREE)):
        return git_query.staged_paths(project, _MERGED_TREE) or git_query.staged_paths(project)
    return git_query.staged_paths(project)
