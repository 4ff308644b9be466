"""Tasks of a plan that are done in another worktree, so that nobody does them again before the branches are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.git.linked_worktrees import list_worktrees, worktree_of
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import plan_store
from execplan.team.worktrees.fork_texts import load_fork_texts
from execplan.team.worktrees.plan_texts import differing_texts
from execplan.team.worktrees.worktree_plan_paths import PlanPaths

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def find_tasks_done_elsewhere(project: Project, ref: PlanRef) -> dict[str, str]:
    """Return the directory of the worktree in which a task has been done since its branch left this one, by task ID.

    A task that was done before and reopened here is not one of them. Raises ExecplanError if the plan can't be read.
    """
    worktrees = [worktree for worktree in list_worktrees(project) if worktree.exists]
    current = worktree_of(project, worktrees)
    other_worktrees = [worktree for worktree in worktrees if worktree is not current]
    if current is None or not other_worktrees:
        return {}
    own = {ref.path: plan_store.read_bytes(project, ref.path)}
    own_done = find_done_tasks(plan_store.parse_or_none(project, own[ref.path]))
    differing = differing_texts(project, own, other_worktrees, PlanPaths(project, worktrees), includes_new=False)
    done_in_versions = [
        (version, find_done_tasks(plan_store.parse_or_none(version.project, version.data))) for _, version in differing
    ]
    versions = [(version, done) for version, done in done_in_versions if done - own_done]  # the others need no git
    names = [(version.worktree.root, version.project.display_path(version.ref.path)) for version, _ in versions]
    projects = {version.worktree.root: version.project for version, _ in versions}
    fork_texts = load_fork_texts(project, projects, names) if versions else {}
    directories: dict[str, str] = {}
    for (version, done), name in zip(versions, names, strict=True):
        for task_id in done - find_done_tasks(plan_store.parse_or_none(project, fork_texts.get(name) or b"")):
            directories.setdefault(task_id, version.project.base)
    return directories


def find_done_tasks(plan: ParsedPlan | None) -> set[str]:
    """Return the IDs of the tasks of a plan that are done."""
    if plan is None:
        return set()
    return {task_id for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True) if task.state == DONE}
