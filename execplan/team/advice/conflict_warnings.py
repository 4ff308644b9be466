"""Warnings about plans with conflicts: git conflict markers, or files that git lists as unmerged, and what resolves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.git.git_directory import MERGE, operation_in_progress
from execplan.core.plan_store.plan_store import name_in_commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project


def conflict_warnings(stored_plans: Sequence[StoredPlan]) -> tuple[str, ...]:
    """Return a warning for each plan with git conflict markers, and for other files of plans that are unmerged."""
    return tuple(
        [
            conflict_warning(
                stored_plan.project.display_path(stored_plan.ref.path), stored_plan.plan.conflict_lines[0] + 1
            )
            for stored_plan in stored_plans
            if stored_plan.plan is not None and stored_plan.plan.conflict_lines
        ]
    ) + unmerged_warnings(
        [
            (stored_plan.project, stored_plan.ref)
            for stored_plan in stored_plans
            if stored_plan.plan is None or not stored_plan.plan.conflict_lines
        ]
    )


def conflict_commands(stored_plans: Sequence[StoredPlan]) -> tuple[str, ...]:
    """Return the command that resolves the conflicts of each plan with conflicts."""
    return tuple(
        [
            f"execplan merge {name_in_commands(stored_plan.project, stored_plan.ref)}"
            for stored_plan in stored_plans
            if has_conflicts(stored_plan)
        ]
    )


def has_conflicts(stored_plan: StoredPlan) -> bool:
    """Return whether a plan has git conflict markers, or an operation of git has left conflicts in its files."""
    if stored_plan.plan is not None and stored_plan.plan.conflict_lines:
        return True
    return bool(unmerged_warnings([(stored_plan.project, stored_plan.ref)]))


def finish_merge_commands(project: Project) -> tuple[str, ...]:
    """Return the command that finishes a merge in which no conflict is left; none without one, or if git can't say.

    A rebase without conflicts may have stopped so that somebody edits the plan.
    """
    if project.git is None or operation_in_progress(project.git) != MERGE:
        return ()
    try:
        commands: tuple[str, ...] = features.load(features.MERGE_COMMANDS)(project, [])
    except ExecplanError:
        return ()
    return commands


def conflict_warning(path: str, line: int) -> str:
    """Return the warning about a plan whose first conflict marker is in a line, from 1."""
    return f"{path}: line {line} contains a git conflict marker: both sides are shown"


def unmerged_warnings(plans: Sequence[tuple[Project, PlanRef]]) -> tuple[str, ...]:
    """Return a warning for each file of plans that git lists as unmerged, while an operation of git is in progress."""
    operations = {project.git: operation_in_progress(project.git) for project, _ in plans if project.git}
    warnings: list[str] = []
    for git_dir, operation in operations.items():
        if operation:
            affected = [plan for plan in plans if plan[0].git == git_dir]
            reasons = features.load(features.MERGE_CONFLICTS)(affected)
            warnings += [f"{operation} is in progress: {reason}" for reason in reasons]
    return tuple(warnings)
