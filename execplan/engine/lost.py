"""Files that are gone, of which the state has a copy, and not because another branch is checked out."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.repo import ask
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project


def is_lost(project: Project, copy_path: str, artifact_path: str) -> bool:
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
        if ask.output_or_none(project, "rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{path}", no_status=1):
            return True
        commits = ask.output(project, "--literal-pathspecs", "rev-list", "-1", *branches, *commit_limits, "--", path)
    except ExecplanError:
        return True
    return not commits.strip()


def _commit_limits(path: str) -> tuple[str, ...] | None:
    """Which commits may have it: those since the first line of a journal or a ledger was written. None: it is empty."""
    with open(disk.open_regular(path), "rb") as file:
        line = file.readline(1 << 16)
    timestamp = line.partition(b'"at":"')[2].decode("ascii", "replace")[:20]
    return (f"--since={timestamp}",) if timestamp else () if line else None
