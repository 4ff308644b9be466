"""Removal of a plan's worktree and branch after they were merged; each step can be repeated."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from execplan.core.errors import CONFLICT, INPUT, ExecplanError
from execplan.core.git import git_process
from execplan.team.worktrees.worktree_branch import worktrees_directory
from execplan.team.worktrees.worktree_merge import has_branch, is_ancestor
from execplan.team.worktrees.worktree_record import remove_record

if TYPE_CHECKING:
    from execplan.core.git.linked_worktrees import Worktree
    from execplan.core.project.project import Project
    from execplan.team.worktrees.worktree_record import WorktreeRecord


def remove_worktree(
    project: Project, record: WorktreeRecord, worktree: Worktree | None, target: Worktree, into: str
) -> tuple[str, ...]:
    """Remove the merged worktree of a plan, its branch and its record; return warnings.

    `project` is that of the target's worktree. Raises ExecplanError if git does not remove the worktree, because it has
    changes again.
    """
    if has_branch(target.root, record.branch) and not is_ancestor(target.root, record.branch, into):
        message = f"{record.branch} is not merged into {into}, so its worktree was not removed"
        raise ExecplanError("target-changed", message, exit=CONFLICT, hint="try again")
    if worktree is not None:
        _remove_with_git(record, worktree, target)
    _remove_if_empty(project, record.root_of(worktree))
    warnings: tuple[str, ...] = ()
    if has_branch(target.root, record.branch):
        result = git_process.run_git(target.root, "branch", "--quiet", "-d", record.branch)
        if result.status:
            warnings = (f"git keeps the branch {record.branch}: {result.lines[0] if result.lines else 'no reason'}",)
    remove_record(project, record)
    return warnings


def ensure_merged_without_worktree(record: WorktreeRecord, target: Worktree, into: str) -> None:
    """Raise ExecplanError if a branch whose worktree is gone has commits that are not merged."""
    if not has_branch(target.root, record.branch) or is_ancestor(target.root, record.branch, into):
        return
    message = f"the worktree {record.root} was removed, but its branch {record.branch} is not merged into {into}"
    hint = f"create it again, then finish it: execplan worktree {quote(record.plan)}"
    raise ExecplanError("worktree-missing", message, exit=INPUT, hint=hint)


def _remove_with_git(record: WorktreeRecord, worktree: Worktree, target: Worktree) -> None:
    args = ("worktree", "remove", worktree.root)
    result = git_process.run_git(target.root, *args)
    if not result.status:
        return
    error = git_process.command_failed_error(args, result)
    if "containing submodules" in result.errors:
        error.message = f"{record.branch} is merged, but git does not remove {worktree.root}, because it has submodules"
        error.hint = (
            "if all commits in them are pushed, remove it, then try again: "
            f"git -C {quote(target.root)} worktree remove --force {quote(worktree.root)}; "
            f"execplan worktree {quote(record.id)} --finish"
        )
    raise error


def _remove_if_empty(project: Project, root: str) -> None:
    """Remove the directory of all worktrees if the one with this root was the last."""
    directory = os.path.dirname(root)
    if directory == os.path.realpath(worktrees_directory(project)):
        try:
            os.rmdir(directory)
        except OSError:
            return  # it contains other worktrees
