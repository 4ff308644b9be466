"""Paths of plans in several worktrees: equal, except for a plan that was renamed on some of the branches only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.team.worktrees.worktree_record import WorktreeRecord, find_worktree, load_records

if TYPE_CHECKING:
    from execplan.core.git.linked_worktrees import Worktree
    from execplan.core.project.project import Project


class PlanPaths:
    """The paths that the plans of a repository have in its worktrees."""

    def __init__(self, project: Project, worktrees: list[Worktree]) -> None:
        self.records = load_records(project)
        """The records of the worktrees of plans."""
        self._renamed = [
            (record, record.root_of(find_worktree(record, worktrees))) for record in self.records if record.target_plan
        ]

    def path_in(self, root: str, other_root: str, path: str) -> str:
        """Return the path in the worktree at a root of the plan that has a path in another worktree."""
        relative = path[len(other_root) + 1 :]
        for record, own_root in self._renamed:
            if relative in record.plans and relative == _path_at(record, other_root, own_root):
                return os.path.join(root, _path_at(record, root, own_root))
        return os.path.join(root, relative)

    def path_of(self, root: str, record: WorktreeRecord) -> str:
        """Return the path of a record's plan in the worktree at a root."""
        own_root = next((own_root for renamed, own_root in self._renamed if renamed is record), root)
        return os.path.join(root, _path_at(record, root, own_root))


def _path_at(record: WorktreeRecord, root: str, own_root: str) -> str:
    """Return the path from the root at which a worktree has a record's plan: where it is, or else where it should be."""
    plans = record.plans if root == own_root else record.plans[::-1]
    return next((plan for plan in plans if os.path.lexists(os.path.join(root, plan))), plans[0])
