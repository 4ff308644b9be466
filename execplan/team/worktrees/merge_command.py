"""The command `git merge` in a worktree, and the errors of merges that git or a hook has stopped."""

from __future__ import annotations

import os
from shlex import quote
from time import monotonic, sleep
from typing import TYPE_CHECKING

from execplan.core.errors import CHECK_FAILED, ENVIRONMENT, ExecplanError
from execplan.core.files.file_lock import timeout
from execplan.core.git import git_process

if TYPE_CHECKING:
    from execplan.core.git.git_process import GitOutput
    from execplan.core.git.linked_worktrees import Worktree

_MERGE_ARGS = ("merge", "--no-edit", "--no-autostash")
_INDEX_ERROR = "Unable to write index"
"""What git prints if it can't start a merge because the index is locked or can't be written."""


def run_merge(worktree: Worktree, ref: str, *options: str, settings: tuple[str, ...] = ()) -> GitOutput:
    """Merge a ref in a worktree that is in no merge, and return git's result, waiting while another process locks the index.

    Raises ExecplanError if git is missing or the wait times out.
    """
    commit = git_process.run_git_checked(worktree.root, "rev-parse", ref).strip()
    lock = os.path.join(worktree.git, "index.lock")
    deadline = monotonic() + timeout()
    while True:
        result = git_process.run_git(worktree.root, *settings, *_MERGE_ARGS, *options, ref)
        if not result.status or _INDEX_ERROR not in result.errors:
            return result
        # Then git has merged nothing, but says that the merge only has to be committed. That commit would drop all
        # changes of the other branch.
        if git_process.run_git(worktree.root, "rev-parse", "-q", "--verify", "MERGE_HEAD").output.strip() == commit:
            git_process.run_git_checked(worktree.root, "merge", "--quit")
        if monotonic() >= deadline:
            if os.path.lexists(lock):
                raise git_process.git_busy_error(worktree.root, f"{lock} exists")
            return result
        sleep(0.05)


def has_merged_nothing(worktree: Worktree) -> bool:
    """Return whether the index of a worktree in a merge is as before it. Raises ExecplanError if git fails."""
    return git_process.run_git(worktree.root, "diff", "--cached", "--quiet", "--no-ext-diff", "HEAD").status == 0


def failed_merge_error(root: str, message: str, result: GitOutput) -> ExecplanError:
    """Return the error for a merge that git or a hook has stopped, with what they printed."""
    lines = result.lines
    if any(["would be overwritten by merge" in line for line in lines]):
        hint = f"commit or remove the changes, then try again: git -C {quote(root)} status"
        reason = f"files in {root} have changes that are not committed"
        return ExecplanError(
            "merge-blocked",
            f"{message}: {reason}",
            exit=CHECK_FAILED,
            hint=hint,
            candidates=lines,
            data={"reasons": lines},
        )
    hint = "fix what git or the hook reports, then try again"
    return ExecplanError("merge-failed", message, exit=ENVIRONMENT, hint=hint, candidates=lines)
