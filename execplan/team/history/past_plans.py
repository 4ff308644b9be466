"""Selection of a plan for questions about its history: also of a plan that was deleted or renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.team.history.plan_history import find_past_plan

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def select_past_plan(start: str, query: str | None) -> tuple[Project, PlanRef]:
    """Select a plan as other commands do or, if there is none, a plan that once had this ID or path.

    Raises ExecplanError if no single plan fits.
    """
    try:
        return plan_selection.select_plan(start, query)
    except ExecplanError as error:
        name = query or plan_selection.plan_from_environment()
        if error.code not in ("no-such-plan", "plan-deleted") or name is None:
            raise
        for project in project_discovery.with_nested_projects(project_discovery.require(start)):
            ref = find_past_plan(project, name) if project.git is not None else None
            if ref is not None:
                return project, ref
        raise
