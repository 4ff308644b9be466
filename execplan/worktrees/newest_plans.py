"""Plans in their newest versions among all worktrees; without linked worktrees, this costs two calls of stat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.git.linked_worktrees import has_linked_worktrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan_store.plan_store import StoredPlan
    from execplan.project.project import Project
    from execplan.worktrees.plan_location import PlanLocation


def with_newest_versions(
    project: Project, plans: Sequence[StoredPlan], *, includes_new: bool
) -> tuple[list[StoredPlan], dict[str, PlanLocation]]:
    """Replace plans by their newest versions in other worktrees; also return the locations by path of the plan's file.

    `includes_new` adds plans that only other worktrees have.
    """
    if not has_linked_worktrees(project):
        return list(plans), {}
    from execplan.worktrees.plan_versions import replace_with_newest  # not at the top: most repositories don't need it

    return replace_with_newest(project, plans, includes_new=includes_new)
