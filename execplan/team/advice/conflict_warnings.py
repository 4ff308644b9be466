"""Warnings about plans with conflicts: git conflict markers, or files that git lists as unmerged, and what resolves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.git.git_directory import operation_in_progress
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import name_in_commands
from execplan.core.project.project_discovery import with_nested_projects
from execplan.team.advice.advice import Advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project


def conflict_warnings(stored_plans: Sequence[StoredPlan]) -> tuple[str, ...]:
    """Return a warning for each plan with git conflict markers, and for other files of plans that are unmerged."""
    marked = [stored for stored in stored_plans if stored.plan is not None and stored.plan.conflict_lines]
    warnings = [
        conflict_warning(stored.project.display_path(stored.ref.path), stored.require_plan().conflict_lines[0] + 1)
        for stored in marked
    ]
    unmarked = [(stored.project, stored.ref) for stored in stored_plans if stored not in marked]
    return (*warnings, *unmerged_warnings(unmarked))


def conflict_commands(stored_plans: Sequence[StoredPlan]) -> tuple[str, ...]:
    """Return what resolves the conflicts of each plan with git conflict markers or unmerged files; none without any."""
    commands: list[str] = []
    for project, ref, plan in [(stored.project, stored.ref, stored.plan) for stored in stored_plans]:
        if plan is not None and plan.conflict_lines:
            commands.append(f"execplan merge {name_in_commands(project, ref)}")
        elif unmerged_warnings([(project, ref)]):
            commands += features.load(features.MERGE_COMMANDS)(project, [(project, ref)])
    return tuple(commands)


def advise_git(project: Project) -> Advice:
    """Return the advice that finishes a merge, a rebase or a similar operation of git: plans with conflicts come first.

    It is empty without such an operation, or if git can't say.
    """
    operation = operation_in_progress(project.git) if project.git is not None else None
    if operation is None:
        return Advice()
    plans = [(member, ref) for member in with_nested_projects(project) for ref in plan_store.all_refs(member)]
    try:
        commands: tuple[str, ...] = features.load(features.MERGE_COMMANDS)(project, plans)
    except ExecplanError:
        return Advice()
    return Advice(commands, why=f"{operation} is in progress")


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
