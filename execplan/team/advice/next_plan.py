"""Selection of the plan for `next`: the named one, or the only open plan that waits for no other plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ACTIVE, BROKEN, COMPLETE, DOCUMENT, DRAFT, STATES
from execplan.core.plan_facts.facts_loader import load_listed_plans
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.author import explicit_actor
from execplan.core.plan_store.implied_plan import plan_of_worktree
from execplan.core.project import project_discovery
from execplan.team.advice.next_tasks import describe_blockers, find_listed_open_tasks, load_listed_claims
from execplan.team.dependencies.plan_resolver import PlanResolver
from execplan.team.worktrees.newest_plans import with_newest_version, with_newest_versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.plan_facts.listed_plan import ListedPlan
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.core.project.project import Project
    from execplan.team.advice.next_tasks import OpenTasks
    from execplan.team.worktrees.plan_versions import PlanLocation


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

    It is the named one, the sticky one, that of the worktree, or the only open plan that waits for no other one.
    """
    is_chosen = plan is not None or plan_selection.is_plan_chosen(start)
    if is_chosen or plan_of_worktree(project_discovery.require(start)) is not None:
        project, ref = plan_selection.select_plan(start, plan)
        stored_plan, location = with_newest_version(project, plan_store.load(project, ref))
        return NextPlan(stored_plan, [], [], location)
    project = project_discovery.require(start)
    plans, locations = with_newest_versions(project, load_listed_plans(project))
    plans = [listed_plan for listed_plan in plans if not listed_plan.ref.archived and listed_plan.state != DOCUMENT]
    if not plans:
        return NextPlan(None, [], [], None)
    broken_ids = [listed_plan.ref.id for listed_plan in plans if listed_plan.state == BROKEN]
    open_tasks_by_path = _find_open_tasks(project, plans)
    candidates, passed_over = _without_blocked(plans, open_tasks_by_path)
    try:
        chosen = plan_selection.select_only_plan(candidates)
    except ExecplanError as error:
        if all([plan.state == COMPLETE for plan in candidates]):
            error.message = f"no task is open: {len(candidates)} plans are complete"
            error.hint = "archive what is finished: execplan archive --complete"
        else:
            if not passed_over:
                _ensure_no_deadlock(project, candidates, open_tasks_by_path)
            if explicit_actor() is not None and (
                open_plans := [plan for plan in candidates if plan.ref.path in open_tasks_by_path]
            ):
                best = min(open_plans, key=lambda plan: work_order(plan, open_tasks_by_path[plan.ref.path]))
                name = plan_store.name_in_commands(best.project, best.ref)
                error.hint = f"execplan next {name} --claim; or name another plan with -p PLAN"
        if passed_over:
            verb = "plan is" if len(passed_over) == 1 else "plans are"
            error.message += f"; {len(passed_over)} blocked {verb} left out"
        if broken_ids:
            error.message += f"; broken: {', '.join(broken_ids)}"
        tasks = {plan.display_path: open_tasks_by_path.get(plan.ref.path) for plan in candidates}
        for description in error.details:
            _replace_blocked_task(description, tasks.get(description["path"]))
        raise
    stored_plan = plan_store.load(chosen.project, chosen.ref)
    return NextPlan(stored_plan, broken_ids, passed_over, locations.get(chosen.ref.path))


def work_order(
    plan: ListedPlan, open_tasks: OpenTasks | None, chosen_path: str = ""
) -> tuple[bool, bool, bool, int, bool]:
    """Return a sort key by which the plan to work on comes first.

    The chosen plan comes before one with a claim of the reader; then come those that wait for no other plan, by state,
    and with tasks.
    """
    counts = plan.facts.counts
    return (
        plan.ref.path != chosen_path,
        open_tasks is None or not open_tasks.is_yours,
        open_tasks is not None and bool(open_tasks.plan_blockers),
        STATES.index(plan.state),
        counts is not None and not counts.total,
    )


def _find_open_tasks(project: Project, plans: list[ListedPlan]) -> dict[str, OpenTasks]:
    """Return the open tasks of the open plans by path; none if at most one plan is open."""
    open_plans = [plan for plan in plans if plan.state in (DRAFT, ACTIVE)]
    if len(open_plans) < 2:
        return {}
    resolver = PlanResolver(project)
    resolver.add_listed(plans)
    claims_by_path = load_listed_claims(open_plans)
    return {
        plan.ref.path: find_listed_open_tasks(plan, claims_by_path.get(plan.ref.path, {}), resolver)
        for plan in open_plans
    }


def _without_blocked(
    plans: list[ListedPlan], open_tasks_by_path: Mapping[str, OpenTasks]
) -> tuple[list[ListedPlan], list[tuple[str, str]]]:
    """Leave out the open plans that can't be continued because of other plans, and return their IDs with what blocks them.

    All plans are returned if no other open plan would be left.
    """
    free_plans, blocked = [], []
    for plan in plans:
        open_tasks = open_tasks_by_path.get(plan.ref.path)
        if open_tasks is None:
            continue
        if _is_blocked(open_tasks):
            blocked.append((plan.ref.id, describe_blockers(open_tasks)))
        else:
            free_plans.append(plan)
    return (free_plans, blocked) if blocked and free_plans else (plans, [])


def _is_blocked(open_tasks: OpenTasks) -> bool:
    return bool(open_tasks.plan_blockers or (open_tasks.blocked_tasks and open_tasks.task is None))


def _ensure_no_deadlock(project: Project, plans: list[ListedPlan], open_tasks_by_path: Mapping[str, OpenTasks]) -> None:
    """Raise ExecplanError if every open plan is blocked, and plans wait for each other."""
    if not all(
        [_is_blocked(open_tasks_by_path[plan.ref.path]) for plan in plans if plan.ref.path in open_tasks_by_path]
    ):
        return
    from execplan.team.dependencies.dependency_graph import build_graph
    from execplan.team.dependencies.dependency_problems import deadlock_error, find_deadlock

    if cycle := find_deadlock(build_graph(PlanResolver(project))):
        raise deadlock_error(cycle)


def _replace_blocked_task(description: dict[str, Any], open_tasks: OpenTasks | None) -> None:
    """Name the task that `next` would show in the description of a plan, instead of one that waits for another plan."""
    task = description["next"]
    if open_tasks is None or task is None:
        return
    if not open_tasks.plan_blockers and task["id"] not in {blocked["id"] for blocked in open_tasks.blocked_tasks}:
        return
    free_task = open_tasks.task
    description["next"] = {"id": free_task["id"], "text": free_task["text"]} if free_task is not None else None
