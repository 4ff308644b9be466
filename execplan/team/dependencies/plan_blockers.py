"""What blocks a plan or its tasks: plans and tasks of other plans that are not done yet, and warnings about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_dependencies import read_dependencies
from execplan.core.plan.task_needs import read_task_needs
from execplan.team.dependencies.plan_resolver import PlanResolver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.edits.plan_writer import EditResult
    from execplan.core.plan.model import ParsedPlan, PlanMention
    from execplan.core.plan.task_needs import TaskNeed
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.core.project.project_list import ProjectOrigin


class Blocker(NamedTuple):
    """A plan, or a task of one, that must be done first."""

    name: str
    """The dependency as written, such as `parser` or `parser#3`."""
    plan: str
    """ID of the plan."""
    path: str
    """Path of the plan from the repository root; absolute in another project."""
    task: str
    """ID of the task; empty if the whole plan must be done."""
    reason: str
    """How far it is, such as `active, 2 of 5 tasks done`."""
    from_project: ProjectOrigin | None = None
    """The other project that the plan is in; None for the own project."""

    def to_json(self) -> dict[str, Any]:
        """Return the blocker as a document shows it."""
        origin = self.from_project.to_json() if self.from_project is not None else None
        return {**self._asdict(), "task": self.task or None, "from_project": origin}

    @property
    def text(self) -> str:
        """The blocker for people."""
        return f"{self.name} ({self.reason})"


class PlanBlockers(NamedTuple):
    """What blocks a plan."""

    plan: tuple[Blocker, ...] = ()
    """What blocks the plan and so all its tasks."""
    tasks: tuple[tuple[int, tuple[Blocker, ...]], ...] = ()
    """Number of each blocked open task, and what blocks it."""
    problems: tuple[str, ...] = ()
    """Dependencies that block nothing, because it is not clear what they name."""
    unknown: tuple[str, ...] = ()
    """Dependencies that block nothing, because their projects are not known on this machine."""

    def of_task(self, number: int) -> tuple[Blocker, ...]:
        """Return what blocks the task with this number, besides what blocks the plan."""
        return dict(self.tasks).get(number, ())


def find_blockers(resolver: PlanResolver, ref: PlanRef, plan: ParsedPlan) -> PlanBlockers:
    """Find what blocks a plan and its open tasks. Plans in the archive and complete plans block nothing."""
    tasks = [(task.number, task.text) for task in plan.unfinished_tasks]
    return find_blockers_of(resolver, ref, read_dependencies(plan), tasks)


def find_blockers_of(
    resolver: PlanResolver, ref: PlanRef, mentions: Sequence[PlanMention], tasks: Sequence[tuple[int, str]]
) -> PlanBlockers:
    """Find what blocks a plan, given the plans that its metadata names, and number and text of its open tasks."""
    problems: list[str] = []
    unknown = [mention.name for mention in mentions if resolver.resolve(mention.name).unknown_project]
    plan_blockers: dict[str, Blocker] = {}
    for mention in mentions:
        resolution = resolver.resolve(mention.name)
        entry = resolution.entry
        if resolution.unknown_project:
            continue
        if entry is None:
            problems += [f"depends on {mention.name}: {resolution.problem}"] if mention.is_certain else []
        elif entry.ref.path != ref.path and not resolver.is_done(entry):
            reason = resolver.progress_text(entry)
            plan_blockers.setdefault(
                entry.ref.path, Blocker(mention.name, entry.ref.id, entry.display_path, "", reason, entry.origin)
            )
    task_blockers: list[tuple[int, tuple[Blocker, ...]]] = []
    for number, text in tasks:
        needs = read_task_needs(text)
        unknown += [need.name for need in needs if resolver.resolve(need.plan).unknown_project]
        blockers = [_task_blocker(resolver, need) for need in needs if not resolver.resolve(need.plan).unknown_project]
        problems += [f"task {number} needs {blocker}" for blocker in blockers if isinstance(blocker, str)]
        known_blockers = tuple([blocker for blocker in blockers if isinstance(blocker, Blocker)])
        task_blockers += [(number, known_blockers)] if known_blockers else []
    return PlanBlockers(
        tuple(plan_blockers.values()), tuple(task_blockers), tuple(problems), tuple(dict.fromkeys(unknown))
    )


def _task_blocker(resolver: PlanResolver, need: TaskNeed) -> Blocker | str | None:
    """Return the task that must be done first; None if it is done, or a text about why the need is not clear."""
    problem = resolver.need_problem(need)
    entry = resolver.resolve(need.plan).entry
    if problem or entry is None:
        return f"{need.name}: {problem}"
    if resolver.is_task_done(entry, need.task):
        return None
    numbered_task = resolver.find_task(entry, need.task)
    if numbered_task is None:  # the plan is broken
        reason = resolver.progress_text(entry)
        return Blocker(need.name, entry.ref.id, entry.display_path, "", reason, entry.origin)
    task_id, task = numbered_task
    reason = f"{task.state_label}: {task.text}"
    return Blocker(need.name, entry.ref.id, entry.display_path, task_id, reason, entry.origin)


def join_blockers(blockers: Sequence[Blocker]) -> str:
    """Describe blockers on one line for people."""
    return ", ".join([blocker.text for blocker in blockers])


def completion_warnings(
    project: Project, ref: PlanRef, read_plan: Callable[[], ParsedPlan], edit_result: EditResult
) -> tuple[str, ...]:
    """Return warnings if the plan of checked-off tasks, or one of the tasks, waits for another plan.

    Never an error: the tasks are checked off already, because the work may be done all the same.
    """
    tasks = [(task.number, task.text) for task in edit_result.tasks]
    try:
        blockers = find_blockers_of(PlanResolver(project), ref, read_dependencies(read_plan()), tasks)
    except ExecplanError as error:
        return (f"couldn't find out whether this plan waits for others: {error.message}",)
    warnings = [f"this plan waits for {join_blockers(blockers.plan)}"] if blockers.plan else []
    warnings += [f"task {number} waits for {join_blockers(task_blockers)}" for number, task_blockers in blockers.tasks]
    return tuple(warnings)
