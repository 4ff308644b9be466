"""Whether a missing file of a run is expected in the working tree, by the commits that had it."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.files import file_access
from execplan.git import git_query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.project.project import Project


def is_expected(project: Project, copy_path: str, artifact_path: str) -> bool:
    """Whether a file that is gone, and of which the state has a copy, should be there.

    One that was committed, and that the commit which is checked out has not, is on another branch, or somebody removed it.
    """
    try:
        commit_limits = _commit_limits(copy_path)
    except OSError:
        return False
    if commit_limits is None or project.git is None:
        return commit_limits is not None
    path = os.path.relpath(artifact_path, project.root)
    branches = ("--branches", "--remotes", "--tags")  # and not refs/stash: what lies there was taken away
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
    """Which commits may have it: those since the first line of a journal or a ledger was written. None: it is empty."""
    with open(file_access.open_regular(path), "rb") as file:
        line = file.readline(1 << 16)
    timestamp = line.partition(b'"at":"')[2].decode("ascii", "replace")[:20]
    return (f"--since={timestamp}",) if timestamp else () if line else None
