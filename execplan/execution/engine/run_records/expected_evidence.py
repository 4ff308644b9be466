"""Whether the working tree should contain a missing file of a run, judging by the commits that contain it."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.project.project import Project


def is_expected(project: Project, copy_path: str, artifact_path: str) -> bool:
    """Return whether a missing file with a copy in the state directory should exist."""
    try:
        commit_limits = _commit_limits(copy_path)
    except OSError:
        return False
    return commit_limits is not None and is_missing(project, artifact_path, commit_limits)


def is_missing(project: Project, path: str, commit_limits: tuple[str, ...] = ()) -> bool:
    """Return whether a file that does not exist should, considering the commits within the limits.

    A file that was committed and is not in the checked-out commit is on another branch, or a person removed it.
    """
    if project.git is None:
        return True
    path = os.path.relpath(path, project.root)
    branches = ("--branches", "--remotes", "--tags")  # without refs/stash: stashed files were removed
    try:
        if git_query.output_or_none(
            project, "rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{path}", no_status=1
        ):
            return True
        commits = git_query.output(
            project, "--literal-pathspecs", "rev-list", "-1", *branches, *commit_limits, "--", path
        )
    except ExecplanError:
        return True
    return not commits.strip()


def _commit_limits(path: str) -> tuple[str, ...] | None:
    """Return options for the commits since the first line of a journal or audit log; None if the file is empty."""
    with open(file_access.open_regular(path), "rb") as file:
        line = file.readline(1 << 16)
    timestamp = line.partition(b'"at":"')[2].decode("ascii", "replace")[:20]
    if timestamp:
        return (f"--since={timestamp}",)
    if line:
        return ()
    return None
