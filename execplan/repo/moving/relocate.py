"""Plans moved from one plans directory of a project to another, with their artifacts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.plan.change import PlanChange, plan_content
from execplan.repo.moving.move import MoveTarget, move_plan
from execplan.repo.moving.steps import read_evidence
from execplan.text import files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.plan.model import Plan
    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project
    from execplan.repo.moving.move import MoveResult
    from execplan.repo.shelf import PlanRef


def relocate_plans(old: Project, new: Project, refs: Iterable[PlanRef], options: WriteOptions) -> list[MoveResult]:
    """Move plans to where the new settings have them, archived ones to the archive; raises ExecplanError."""
    move_results = []
    for ref in refs:
        path = new.plan_file(new.archive if ref.archived else new.plans, ref.id)
        goal = MoveTarget(ref.id, path, new.plan_artifacts_dir(path, archived=ref.archived))
        old_evidence = read_evidence(old.plan_artifacts_dir(ref.path, archived=ref.archived))
        make_evidence = (lambda _, old_evidence=old_evidence: old_evidence) if old_evidence is not None else None
        move_results.append(move_plan(old, ref, goal, _relocation_change, options, command="init", make_evidence=make_evidence))
    if not options.dry_run:
        _remove_empty_directories(old)
    return move_results


def _relocation_change(plan: Plan) -> PlanChange:
    return PlanChange((), plan_content(plan), "move to the plans directory of the settings", ())


def _remove_empty_directories(old: Project) -> None:
    """Remove the directories of the old place that hold nothing any more."""
    folders = [old.artifacts_dir("", archived=archived).rstrip("/") for archived in (True, False)]
    for folder in [*folders, *old.archives, old.plans]:
        if os.path.isdir(folder):
            files.remove_empty_directory(folder)
