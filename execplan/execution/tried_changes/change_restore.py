"""Reverts the files of a change after their steps are written; git's stash keeps them."""

from __future__ import annotations

from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.git import git_process, git_query
from execplan.core.project.project import Project

STASH_MESSAGE = "execplan: change of plan {}"
"""The message of the stash that keeps a change; with the ID of the plan."""


def ensure_restorable(project: Project, paths: Sequence[str], *, staged: bool) -> None:
    """Raise ExecplanError if a file has changes that its step doesn't make, because only a part of them is staged."""
    if not staged or not paths:
        return
    output = git_query.output(project, "diff", "--name-only", "-z", "--", *[f":(top,literal){path}" for path in paths])
    if partly_staged := [path for path in output.decode("utf-8", "surrogateescape").split("\0") if path]:
        raise ExecplanError(
            "partly-staged",
            f"{partly_staged[0]} also has changes that are not staged, and --restore reverts whole files",
            hint="stage all of its changes, or leave out --restore",
            candidates=partly_staged,
        )


def restore_files(project: Project, paths: Sequence[str], message: str) -> str:
    """Revert files to the last commit, and return the ID of the stash that has the change. Raises ExecplanError.

    The ID is empty if somebody else has reverted the files in the meantime.
    """
    pathspecs = [f":(top,literal){path}" for path in paths]
    _unstage(project, pathspecs)
    before = git_process.run_git(project.root, "rev-parse", "--quiet", "--verify", "refs/stash").output.strip()
    git_process.run_git_checked(
        project.root, "stash", "push", "--quiet", "--include-untracked", "--message", message, "--", *pathspecs
    )
    after = git_process.run_git(project.root, "rev-parse", "--quiet", "--verify", "refs/stash").output.strip()
    if not after or after == before:
        if not git_query.output(project, "status", "--porcelain", "-z", "--", *pathspecs):
            return ""
        raise git_query.git_failed_error("git has stashed nothing, so the files still have the change")
    return after


def _unstage(project: Project, pathspecs: Sequence[str]) -> None:
    """Unstage what git's stash doesn't take: files whose removal is staged, and those of `git add --intent-to-add`."""
    paths: list[str] = []
    for args in (("--cached", "--diff-filter=D"), ("--diff-filter=A",)):
        output = git_query.output(project, "diff", *args, "--name-only", "--no-renames", "-z", "--", *pathspecs)
        paths += [path for path in output.decode("utf-8", "surrogateescape").split("\0") if path]
    if paths:
        git_process.run_git_checked(
            project.root, "reset", "--quiet", "--", *[f":(top,literal){path}" for path in paths]
        )
