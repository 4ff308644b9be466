"""Selection of the plan for `next`: the named one, or the only open plan that waits for no other plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.advice.next_tasks import describe_blockers, find_listed_open_tasks
from execplan.dependencies.plan_resolver import PlanResolver
from execplan.errors import ExecplanError
from execplan.plan.model import ACTIVE, BROKEN, DRAFT
from execplan.plan_facts.facts_loader import load_listed_plans
from execplan.plan_store import plan_selection, plan_store
from execplan.plan_store.worktree_plan import plan_of_worktree
from execplan.project import project_discovery
from execplan.worktrees.newest_plans import with_newest_version, with_newest_versions

if TYPE_CHECKING:
    from execplan.plan_facts.listed_plan import ListedPlan
    from execplan.plan_store.plan_store import StoredPlan
    from execplan.project.project import Project
    from execplan.worktrees.plan_location import PlanLocation


class NextPlan(NamedTuple):
    """The plan to work on, in its newest version among all worktrees."""

    stored_plan: StoredPlan | None
    """The plan; None if there are no plans."""
    broken_ids: list[str]
    """IDs of broken plans."""
    passed_over: list[tuple[str, str]]
    """Plans that wait for other plans: the ID of each, and what blocks it."""
    location: PlanLocation | None
    """Where the plan is being worked on, if that is another worktree, or if it differs from the main branch."""


def select_next_plan(start: str, plan: str | None) -> NextPlan:
    """Select the plan to work on; raises ExecplanError.

    It is the named one, or that of the worktree, or the only open plan that waits for no other one.
    """
    if plan is not None or plan_selection.plan_from_environment() or _is_in_worktree_of_plan(start):
        project, ref = plan_selection.select_plan(start, plan)
        stored_plan, location = with_newest_version(project, plan_store.load(project, ref))
        return NextPlan(stored_plan, [], [], location)
    project = project_discovery.require(start)
    plans, locations = with_newest_versions(project, load_listed_plans(project))
    plans = [listed_plan for listed_plan in plans if not listed_plan.ref.archived]
    if not plans:
        return NextPlan(None, [], [], None)
    broken_ids = [listed_plan.ref.id for listed_plan in plans if listed_plan.state == BROKEN]
    candidates, passed_over = _without_blocked(project, plans)
    try:
        chosen = plan_selection.select_only_plan(candidates)
    except ExecplanError as error:
        if passed_over:
            verb = "plan is" if len(passed_over) == 1 else "plans are"
            error.message += f"; {len(passed_over)} blocked {verb} left out"
        if broken_ids:
            error.message += f"; broken: {', '.join(broken_ids)}"
        raise
    stored_plan = plan_store.load(chosen.project, chosen.ref)
    return NextPlan(stored_plan, broken_ids, passed_over, locations.get(chosen.ref.path))


def _is_in_worktree_of_plan(start: str) -> bool:
    return plan_of_worktree(project_discovery.require(start)) is not None


def _without_blocked(project: Project, plans: list[ListedPlan]) -> tuple[list[ListedPlan], list[tuple[str, str]]]:
    """Leave out the open plans that wait for other plans, and return their IDs with what blocks them.

    All plans are returned if no other open plan would be left.
    """
    open_plans = [plan for plan in plans if plan.state in (DRAFT, ACTIVE)]
    if len(open_plans) < 2:
        return plans, []
    blockers = _plan_blockers(project, plans, open_plans)
    free_plans = [plan for plan in open_plans if plan.ref.path not in blockers]
    return (free_plans, list(blockers.values())) if blockers and free_plans else (plans, [])


def _plan_blockers(
    project: Project, plans: list[ListedPlan], open_plans: list[ListedPlan]
) -> dict[str, tuple[str, str]]:
    """Return the open plans that wait for other plans, by path: ID, and what blocks it."""
    resolver = PlanResolver(project)
    resolver.add_listed(plans)
    blocked: dict[str, tuple[str, str]] = {}
    for plan in open_plans:
        open_tasks = find_listed_open_tasks(plan, {}, resolver)
        if open_tasks.plan_blockers:
            blocked[plan.ref.path] = plan.ref.id, describe_blockers(open_tasks)
    return blocked
