"""The plan for which a worktree was created: commands in this worktree use it if no plan is named."""

from __future__ import annotations

import os

from execplan.core.files import atomic_files, file_access
from execplan.core.plan_store import plan_store
from execplan.core.project.project import is_linked_worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_FILE = "worktree-plan"
_MAX_BYTES = 1 << 14


def plan_of_worktree(project: Project) -> PlanRef | None:
    """Return the plan of the current worktree; None if it has none, or if the plan was moved away."""
    plan = worktree_plan_path(project)
    path = os.path.join(project.root, plan)
    return plan_store.ref_for_path(project, path) if plan and os.path.lexists(path) else None


def is_plan_of_worktree(project: Project, ref: PlanRef) -> bool:
    """Return whether a plan is that of the current worktree."""
    plan = worktree_plan_path(project)
    return bool(plan) and os.path.join(project.root, plan) == ref.path


def worktree_plan_path(project: Project) -> str:
    """Return the path of the current worktree's plan from the root, existing or not; empty if it has none."""
    if project.git is None or not is_linked_worktree(project.git):
        return ""
    return os.fsdecode(file_access.read_if_exists(os.path.join(project.state, _FILE), _MAX_BYTES) or b"")


def set_plan_of_worktree(project: Project, plan: str) -> None:
    """Set the plan of a worktree, given by its path from the root. Raises ExecplanError on failure."""
    atomic_files.replace(os.path.join(project.state, _FILE), os.fsencode(plan))
