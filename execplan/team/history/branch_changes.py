"""The plans that differ from a commit, each with what changed in it, without reading the commits in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.git.blob_reader import BlobReader
from execplan.team.history.change_events import ChangeReader
from execplan.team.history.plan_history import plan_folders
from execplan.team.history.plan_lineages import LineageTracker, PlanPaths
from execplan.team.history.working_tree import uncommitted_changes

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.history.history_event import HistoryEvent


class ChangedPlan(NamedTuple):
    """A plan whose file differs from a commit."""

    project: Project
    ref: PlanRef
    """The plan now; of a deleted plan, in the commit."""
    is_deleted: bool
    former_path: str
    """Path in the commit, from the repository root; empty for a new plan."""
    events: list[HistoryEvent]

    @property
    def path(self) -> str:
        """Path from the repository root; of a deleted plan, in the commit."""
        return self.project.display_path(self.ref.path)


def load_branch_changes(project: Project, commit: str) -> list[ChangedPlan]:
    """Return the plans of a project that differ from a commit, in the order of their paths; also untracked ones.

    A plan that was renamed or archived is one change. Raises ExecplanError if git fails.
    """
    tracker = LineageTracker(PlanPaths(project))
    plan_changes = tracker.add_changes(uncommitted_changes(project, commit, plan_folders(project)))
    changed_plans = []
    with BlobReader(project) as blobs:
        reader = ChangeReader(project, blobs)
        for plan_change in plan_changes:
            change, former_ref = plan_change.change, plan_change.former_refs[0]
            is_deleted = not change.blob
            former_path = change.former_paths[0] if former_ref is not None else ""
            events = reader.events(plan_change, None)
            if events:
                changed_plans.append(ChangedPlan(project, plan_change.ref, is_deleted, former_path, events))
    return sorted(changed_plans, key=lambda changed_plan: changed_plan.path)
