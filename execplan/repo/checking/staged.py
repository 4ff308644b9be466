"""The plans of the next commit checked as git's index holds them, whatever the working tree says."""

from __future__ import annotations

import os
import re

from execplan.lint.runner import lint_bytes, unreadable
from execplan.plan.reader import MAX_BYTES, too_large
from execplan.repo import ask, homes, shelf
from execplan.repo.checking.one import Checked, Way, given
from execplan.repo.checking.selected import levels, wanted
from execplan.repo.checking.tree import Trees
from execplan.repo.pattern import plan_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home


def check_staged(start: str, way: Way) -> list[Checked]:
    """Check the plans that the next commit adds or changes; raises ExecplanError."""
    here = homes.find(start)
    way = way._replace(trees=Trees(staged=True))
    found: dict[str, tuple[Home, str]] = {}
    plans = []
    for staged in ask.staged(here, ".md"):
        folder = os.path.dirname(os.path.join(here.root, staged.path))
        if folder not in found:
            home = homes.find(folder)
            found[folder] = home, plan_paths(home)
        if re.search(found[folder][1], staged.path):
            plans.append(staged)
    checked = []
    for staged, (data, size) in zip(plans, ask.contents(here, plans), strict=True):
        path = os.path.join(here.root, staged.path)
        home = found[os.path.dirname(path)][0]
        facts = given(home, shelf.by_file(home, path), way)
        findings = (
            [unreadable(too_large(size))]
            if size > MAX_BYTES
            else lint_bytes(data, facts, levels(home, way.selection, staged.path))
        )
        checked.append(Checked(staged.path, os.path.relpath(path), findings, data, wanted(home, way.selection).fails))
    return checked
