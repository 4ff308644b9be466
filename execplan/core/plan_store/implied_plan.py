"""The plan that commands mean when none is named: the sticky plan, set by `use`, or that of the worktree."""

from __future__ import annotations

import os

from execplan.core.files import atomic_files, file_access
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.author import actor
from execplan.core.project import project_discovery, project_state
from execplan.core.project.project import is_linked_worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_FILE = "worktree-plan"
_DIRECTORY = "sticky-plans"
"""State directory with a file for each author, so that nobody's choice redirects another author's commands."""
_MAX_BYTES = 1 << 14
IGNORE_VARIABLE = "EXECPLAN_IGNORE_STICKY"
"""Environment variable with which tools for agents ignore the choice of the person whose name they have."""

selected: list[PlanRef] = []
"""The sticky plan, once the current command has selected it although other plans could have been meant."""


def plan_of_worktree(project: Project) -> PlanRef | None:
    """Return the plan of the current worktree, also if it is archived there; None if it has none, or if it was moved away."""
    plan = worktree_plan_path(project)
    path = os.path.join(project.root, plan)
    if not plan or os.path.lexists(path):
        return plan_store.ref_for_path(project, path) if plan else None
    plan_id = project.split_plan_path(path)[1]
    return next((ref for ref in plan_store.refs(project, archive=True) if ref.archived and ref.id == plan_id), None)


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


def find_sticky_plan(project: Project) -> tuple[Project, PlanRef] | None:
    """Return the author's sticky plan and its project; None without one, or if the plan is archived or gone."""
    path = sticky_path(project)
    absolute = os.path.join(project.root, path)
    if not path or not os.path.lexists(absolute):
        return None
    member = project_discovery.find_for_file(absolute)
    ref = plan_store.ref_for_path(member, absolute)
    return None if ref.archived else (member, ref)


def sticky_path(project: Project) -> str:
    """Return the path of the author's sticky plan from the root, whether it exists or not; empty without one."""
    if os.environ.get(IGNORE_VARIABLE) or not os.path.isdir(os.path.join(project.state, _DIRECTORY)):
        return ""
    return os.fsdecode(file_access.read_if_exists(_file(project), _MAX_BYTES) or b"")


def set_sticky_plan(project: Project, ref: PlanRef | None) -> None:
    """Set the author's sticky plan, or end it with None. Raises ExecplanError on failure."""
    project_state.make_state_dir(project, _DIRECTORY)
    path = "" if ref is None else os.path.relpath(ref.path, project.root)
    atomic_files.replace(_file(project), os.fsencode(path), is_locked=False)


def follow_move(project: Project, old: str, new: str) -> None:
    """Let the sticky plans of all authors follow the move of a plan. Raises ExecplanError on failure."""
    old_path, new_path = [os.fsencode(os.path.relpath(path, project.root)) for path in (old, new)]
    for name in plan_store.list_entries(os.path.join(project.state, _DIRECTORY)):
        file = os.path.join(project.state, _DIRECTORY, name)
        if file_access.read_if_exists(file, _MAX_BYTES) == old_path:
            atomic_files.replace(file, new_path, is_locked=False)


def _file(project: Project) -> str:
    return os.path.join(project.state, _DIRECTORY, project_state.path_key(actor(project)))
