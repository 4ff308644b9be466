"""The plans of the next commit checked as git's index holds them, whatever the working tree says."""

from __future__ import annotations

import os

from execplan.lint.runner import lint_bytes, unreadable_finding
from execplan.plan.reader import MAX_BYTES, too_large
from execplan.repo import ask, homes
from execplan.repo.checking.history import Asked, histories
from execplan.repo.checking.one import Checked, Target, Way, checked, given
from execplan.repo.checking.selected import levels, wanted
from execplan.repo.checking.targets import among
from execplan.repo.checking.tree import Trees


def check_staged(start: str, way: Way) -> list[Checked]:
    """Check the plans that the next commit adds or changes; raises ExecplanError."""
    here = homes.find(start)
    files = {os.path.join(here.root, each.path): each for each in ask.staged_files(here, ".md")}
    plans = among(here, [each.path for each in files.values()])
    held = list(ask.read_blobs(here, [files[ref.path] for _, ref in plans]))
    known = histories([Asked(*plan, data) for plan, (data, _) in zip(plans, held, strict=True)])
    way = way._replace(trees=Trees(staged=True), histories=known)
    found = []
    checked_targets = []
    for (home, ref), (data, size) in zip(plans, held, strict=True):
        path = home.display_path(ref.path)
        if size > MAX_BYTES:
            findings = [unreadable_finding(too_large(size))]
        else:
            findings = lint_bytes(data, given(home, ref, way, by_name=False), levels(home, way.selection, path))
        fails = wanted(home, way.selection).failure_level
        named = os.path.relpath(ref.path)
        found.append(checked(path, named, findings, data, fails))
        checked_targets.append(Target(home, ref, named, by_name=False))
    if way.hook and any([each.findings for each in found]):
        from execplan.repo.checking.older import without_older

        return without_older(checked_targets, found, way)
    return found
