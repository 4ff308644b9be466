"""What is gone or altered of a run among the artifacts of its plan, and whether somebody has meant it so."""

from __future__ import annotations

import os

from execplan.engine import copies
from execplan.engine.lost import is_lost
from execplan.engine.place import JOURNAL
from execplan.errors import ExecplanError
from execplan.repo import ask, shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.place import RunPaths
    from execplan.repo.home import Home


def altered(home: Home, place: RunPaths) -> list[str]:
    """What of a run is not as its copy, from its folder; what git has so in the commit that is checked out is meant so."""
    own = place.copied(JOURNAL)
    names = [JOURNAL] if os.path.lexists(own) and copies.differs(place, JOURNAL) else []
    names += copies.altered(place) if names or os.path.lexists(own) else []
    there = [name for name in names if os.path.lexists(place.shown(name))]
    mine = _changed(home, [place.shown(name) for name in there]) if there else set()
    gone = [name for name in names if name not in there]
    elsewhere = bool(gone) and not is_lost(home, own, place.shown(gone[0]))
    return [name for name in names if place.shown(name) in mine or (name in gone and not elsewhere)]


def _changed(home: Home, paths: list[str]) -> set[str]:
    """Those that git does not have as they are."""
    if home.git is None:
        return set(paths)
    try:
        told = ask.output(home, "--literal-pathspecs", "ls-files", "-z", "-m", "-o", "--", *paths)
    except ExecplanError:
        return set(paths)
    return {os.path.join(home.root, os.fsdecode(each)) for each in told.split(b"\0") if each}


def is_elsewhere(home: Home, path: str, run: str) -> bool:
    """Whether another plan than the one at a path has a run among its artifacts."""
    others = [each for each in shelf.every(home) if each.path != path]
    folders = [home.artifacts_of(each.path, archived=each.archived) for each in others]
    return any([os.path.lexists(os.path.join(folder, "runs", run)) for folder in folders])
