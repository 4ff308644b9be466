"""What to work on next in several projects: the next task of each open plan that waits for no other plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ACTIVE, BROKEN, DRAFT
from execplan.core.plan_facts.facts_loader import load_listed_plans
from execplan.team.advice.next_tasks import describe_blockers, find_listed_open_tasks, load_listed_claims
from execplan.team.dependencies.known_projects import KnownProjects
from execplan.team.dependencies.plan_resolver import PlanResolver
from execplan.team.worktrees.newest_plans import with_newest_versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_facts.listed_plan import ListedPlan
    from execplan.core.project.project_list import ListedProject
    from execplan.team.advice.next_tasks import OpenTasks
    from execplan.team.worktrees.plan_versions import PlanLocation


class OpenPlan(NamedTuple):
    """An open plan with its next task, in its newest version among all worktrees of its repository."""

    listed: ListedProject
    plan: ListedPlan
    open_tasks: OpenTasks
    location: PlanLocation | None

    @property
    def command_directory(self) -> str:
        """Directory in which commands about the plan run; empty for the current one."""
        directory = self.location.directory if self.location is not None else ""
        return directory or self.listed.command_directory

    @property
    def path(self) -> str:
        """Path of the plan from the repository root, or an absolute path in another project."""
        return self.plan.project.shown_path(self.plan.ref.path)


class JointNext(NamedTuple):
    """What can be worked on next in several projects."""

    plans: tuple[OpenPlan, ...]
    """Plans with tasks claimed by the current author come first, then those with the latest activity."""
    passed_over: tuple[tuple[OpenPlan, str], ...]
    """Plans that wait for other plans, each with what blocks it."""
    broken: tuple[tuple[ListedProject, ListedPlan], ...]
    problems: tuple[str, ...]
    """Why plans of some projects are missing, with the names of the projects."""


def find_joint_next(projects: Sequence[ListedProject]) -> JointNext:
    """Find the next tasks of the open plans of several projects. A project that can't be read is a problem."""
    known_projects = KnownProjects([listed.project for listed in projects])
    open_plans: list[OpenPlan] = []
    broken: list[tuple[ListedProject, ListedPlan]] = []
    problems: list[str] = []
    for listed in projects:
        try:
            project_plans, project_broken = _find_open_plans(listed, known_projects)
        except ExecplanError as error:
            problems.append(f"{listed.origin.name}: {error.message}")
            continue
        open_plans += project_plans
        broken += [(listed, plan) for plan in project_broken]
    free_plans = [plan for plan in open_plans if not plan.open_tasks.plan_blockers]
    free_plans.sort(key=lambda open_plan: open_plan.plan.facts.last_date, reverse=True)
    free_plans.sort(key=lambda plan: not plan.open_tasks.is_yours)
    passed_over = [(plan, describe_blockers(plan.open_tasks)) for plan in open_plans if plan.open_tasks.plan_blockers]
    return JointNext(tuple(free_plans), tuple(passed_over), tuple(broken), tuple(problems))


def _find_open_plans(listed: ListedProject, known_projects: KnownProjects) -> tuple[list[OpenPlan], list[ListedPlan]]:
    """Return the open plans of a project with their next tasks, and its broken plans."""
    project = listed.project
    plans, locations = with_newest_versions(project, load_listed_plans(project))
    resolver = PlanResolver(project, known_projects)
    resolver.add_listed(plans)
    claims_by_path = load_listed_claims(plans)
    open_plans = []
    for plan in plans:
        if plan.state in (DRAFT, ACTIVE):
            open_tasks = find_listed_open_tasks(plan, claims_by_path.get(plan.ref.path, {}), resolver)
            open_plans.append(OpenPlan(listed, plan, open_tasks, locations.get(plan.ref.path)))
    return open_plans, [plan for plan in plans if plan.state == BROKEN]
