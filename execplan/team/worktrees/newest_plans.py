"""Plans in their newest versions among all worktrees; without linked worktrees, this costs two calls of stat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.git.linked_worktrees import has_linked_worktrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_facts.listed_plan import ListedPlan
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.core.project.project import Project
    from execplan.team.worktrees.plan_versions import PlanLocation


def with_newest_version(project: Project, plan: StoredPlan) -> tuple[StoredPlan, PlanLocation | None]:
    """Replace a plan by its newest version in another worktree; also return its location, if that is known."""
    if not has_linked_worktrees(project):
        return plan, None
    from execplan.team.worktrees.plan_versions import (
        replace_with_newest,  # not at the top: most repositories don't need it
    )

    return replace_with_newest(plan)


def with_newest_versions(
    project: Project, plans: Sequence[ListedPlan]
) -> tuple[list[ListedPlan], dict[str, PlanLocation]]:
    """Replace plans by their newest versions in other worktrees, and add plans that only those have.

    Also returns the locations by path of the plan's file.
    """
    if not has_linked_worktrees(project):
        return list(plans), {}
    from execplan.team.worktrees.plan_versions import list_newest

    return list_newest(project, plans)
