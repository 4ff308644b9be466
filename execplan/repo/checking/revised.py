"""The plans that differ from the last commit, for rules that compare a plan with what was committed."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.lint.facts import GitHistory
from execplan.lint.rule import COMMIT, RULES
from execplan.plan import reader
from execplan.repo import past, shelf
from execplan.repo.checking.history import Asked, committed_plans, folders
from execplan.repo.checking.selected import levels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.checking.one import Way
    from execplan.repo.checking.targets import Lot


def with_committed(lots: Sequence[Lot], way: Way) -> Way:
    """The way with the plans that differ from HEAD as they were committed; git that refuses tells nothing.

    One process of git says which plans differ, and two more read those, if there are any. Nothing is asked where no rule
    wants it, or where history is known already.
    """
    if way.histories is not None:
        return way
    roots: dict[str, list[Lot]] = {}
    for lot in lots:
        wanted = [code for code in levels(lot.home, way.selection, "") if RULES[code].needs == COMMIT]
        if lot.home.git is not None and not lot.archived and wanted:
            roots.setdefault(lot.home.root, []).append(lot)
    known: dict[str, GitHistory] = {}
    for among in roots.values():
        try:
            known |= _known(among)
        except ExecplanError:
            continue
    return way._replace(committed=known)


def _known(lots: list[Lot]) -> dict[str, GitHistory]:
    """The plans of one repository that differ from HEAD, by their absolute paths; raises ExecplanError."""
    home = lots[0].home
    places = folders(home.root, {lot.folder for lot in lots})
    differing = {os.path.join(home.root, path) for path in past.changed_files(home, "HEAD", places)}
    plans = []
    for lot in lots if differing else ():
        for name in lot.names:
            target = lot.target(name)
            if os.path.realpath(target.ref.path) in differing:
                try:
                    plans.append(Asked(target.home, target.ref, shelf.read_bytes(target.home, target.ref.path)))
                except ExecplanError:
                    continue  # a finding of its own
    known = {}
    for path, before in (committed_plans(plans, "HEAD") if plans else {}).items():
        try:
            was = reader.read(before.data)
        except ExecplanError:
            continue
        known[path] = GitHistory(was, before.path, before.archived, is_partial=True)
    return known
