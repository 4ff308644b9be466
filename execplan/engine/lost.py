"""Runs whose evidence is gone from the artifacts of their plan, and not because another branch is checked out."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.repo import ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home


def is_lost(home: Home, own: str, shown: str) -> bool:
    """Whether the journal of a run that the state has is not among the artifacts, and should be.

    A run that was committed, and that the commit which is checked out has not, is on another branch, or somebody removed it.
    """
    try:
        begun = os.stat(own).st_size and _begun(own)
    except OSError:
        return False
    if not begun:
        return False
    if home.git is None:
        return True
    path = os.path.relpath(shown, home.root)
    branches = ("--branches", "--remotes", "--tags")  # and not refs/stash: what lies there was taken away
    try:
        if ask.answer(home, "rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{path}", no=1):
            return True
        found = ask.output(home, "--literal-pathspecs", "rev-list", "-1", *branches, f"--since={begun}", "--", path)
    except ExecplanError:
        return True
    return not found.strip()


def _begun(path: str) -> str:
    """When a run was begun, by the first line of its journal; no commit from before has it."""
    with open(path, "rb") as file:
        return file.readline(1 << 16).partition(b'"at":"')[2].decode("ascii", "replace")[:20]
