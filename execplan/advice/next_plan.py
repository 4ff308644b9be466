"""Selection of the plan for `next`: the named one, or the only open plan that waits for no other plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.advice.next_tasks import describe_blockers, find_open_tasks
from execplan.dependencies.plan_resolver import PlanResolver
from execplan.errors import ExecplanError
from execplan.plan.model import ACTIVE, BROKEN, DRAFT
from execplan.plan_store import plan_selection, plan_store
from execplan.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan_store.plan_store import StoredPlan
    from execplan.project.project import Project


def select_next_plan(start: str, plan: str | None) -> tuple[StoredPlan | None, list[str], list[tuple[str, str]]]:
    """Return the plan to work on, or None if there are no plans; raises ExecplanError.

    `plan` names it; without a name, it is the only open plan that waits for no other one.

    Also returns the IDs of broken plans, and the plans that were passed over, each with what blocks it.
    """
    if plan is not None or plan_selection.plan_from_environment():
        project, ref = plan_selection.select_plan(start, plan)
        return plan_store.load(project, ref), [], []
    project = project_discovery.require(start)
    stored_plans = plan_store.load_with_nested(project)
    if not stored_plans:
        return None, [], []
    broken_ids = [stored_plan.ref.id for stored_plan in stored_plans if stored_plan.state == BROKEN]
    try:
        return plan_selection.select_only_plan(stored_plans), broken_ids, []
    except ExecplanError as error:
        blockers = _plan_blockers(project, stored_plans)
        remaining_plans = [
            stored_plan
            for stored_plan in stored_plans
            if stored_plan.state in (DRAFT, ACTIVE) and stored_plan.ref.path not in blockers
        ]
        if blockers and len(remaining_plans) == 1:
            return remaining_plans[0], broken_ids, list(blockers.values())
        if broken_ids:
            error.message += f"; broken: {', '.join(broken_ids)}"
        raise


def _plan_blockers(project: Project, stored_plans: Sequence[StoredPlan]) -> dict[str, tuple[str, str]]:
    """Return the open plans that wait for other plans, by path: ID, and what blocks it."""
    resolver = PlanResolver(project)
    resolver.add_loaded(stored_plans)
    blocked: dict[str, tuple[str, str]] = {}
    for stored_plan in stored_plans:
        if stored_plan.plan is not None and stored_plan.state in (DRAFT, ACTIVE):
            open_tasks = find_open_tasks(stored_plan.project, stored_plan.ref, stored_plan.plan, resolver=resolver)
            if open_tasks.plan_blockers:
                blocked[stored_plan.ref.path] = stored_plan.ref.id, describe_blockers(open_tasks)
    return blocked
