"""Plans moved from one plans directory of a project to another, with their artifacts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.plan.change import Change, facts
from execplan.repo.moving.move import Goal, move
from execplan.repo.moving.steps import read_evidence
from execplan.text import files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.moving.move import Moved
    from execplan.repo.shelf import Ref


def relocate(old: Home, new: Home, refs: Iterable[Ref], options: Options) -> list[Moved]:
    """Move plans to where the new settings have them, archived ones to the archive; raises ExecplanError."""
    moved = []
    for ref in refs:
        path = new.file(new.archive if ref.archived else new.plans, ref.id)
        goal = Goal(ref.id, path, new.artifacts_of(path, archived=ref.archived))
        was = read_evidence(old.artifacts_of(ref.path, archived=ref.archived))
        kept = (lambda _, was=was: was) if was is not None else None
        moved.append(move(old, ref, goal, _unchanged, options, verb="init", evidence=kept))
    if not options.dry_run:
        _remove_empty(old)
    return moved


def _unchanged(plan: Plan) -> Change:
    return Change((), facts(plan), "move to the plans directory of the settings", ())


def _remove_empty(old: Home) -> None:
    """Remove the directories of the old place that hold nothing any more."""
    folders = [old.artifacts("", archived=archived).rstrip("/") for archived in (True, False)]
    for folder in [*folders, *old.archives, old.plans]:
        if os.path.isdir(folder):
            files.remove_empty(folder)
