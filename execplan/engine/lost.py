"""Files that are gone, of which the state has a copy, and not because another branch is checked out."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.repo import ask
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home


def is_lost(home: Home, own: str, shown: str) -> bool:
    """Whether a file that is gone, and of which the state has a copy, should be there.

    One that was committed, and that the commit which is checked out has not, is on another branch, or somebody removed it.
    """
    try:
        begun = _begun(own)
    except OSError:
        return False
    if begun is None or home.git is None:
        return begun is not None
    path = os.path.relpath(shown, home.root)
    branches = ("--branches", "--remotes", "--tags")  # and not refs/stash: what lies there was taken away
    try:
        if ask.answer(home, "rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{path}", no=1):
            return True
        found = ask.output(home, "--literal-pathspecs", "rev-list", "-1", *branches, *begun, "--", path)
    except ExecplanError:
        return True
    return not found.strip()


def _begun(path: str) -> tuple[str, ...] | None:
    """Which commits may have it: those since the first line of a journal or a ledger was written. None: it is empty."""
    with open(disk.open_regular(path), "rb") as file:
        line = file.readline(1 << 16)
    at = line.partition(b'"at":"')[2].decode("ascii", "replace")[:20]
    return (f"--since={at}",) if at else () if line else None
