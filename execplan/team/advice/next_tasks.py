"""Selection of a plan's open tasks: the user's own or the next one, those claimed by others, and those that are blocked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from execplan.core import features
from execplan.core.git.linked_worktrees import has_linked_worktrees
from execplan.core.plan.model import ACTIVE, COMPLETE, DRAFT, ParsedPlan
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.plan_store import claims
from execplan.core.plan_store.author import actor
from execplan.core.plan_store.claims_file import Claim
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_excess, join_first
from execplan.team.advice.plan_json import mark_note, task_line, tasks_json
from execplan.team.dependencies.plan_blockers import (
    Blocker,
    PlanBlockers,
    find_blockers,
    find_blockers_of,
    join_blockers,
)
from execplan.team.dependencies.plan_resolver import PlanResolver

FINISHING_TEXTS = {
    "archive": ": archive it",
    "lint": ", but lint errors",
    "outcome": ", no outcome",
    "set": ", but placeholder text",
}
"""What is left to do with a plan without open tasks, by the command that does it."""
_MAX_TASKS: Final = 5
"""Maximum number of claimed or blocked tasks that are named to people."""


MERGE_REASON: Final = "done there; merge it"
"""Why an open task waits for a worktree in which it is done."""


class OpenTasks(NamedTuple):
    """The next task of a plan and all its claimed tasks."""

    task: dict[str, Any] | None
    """First task claimed by the current author, with `by` and `until`; otherwise the first one neither claimed nor blocked."""
    claimed_tasks: list[dict[str, Any]]
    """All claimed tasks, including the author's own, each with `by` and `until`."""
    blocked_tasks: list[dict[str, Any]]
    """Open tasks that need tasks of other plans, each with `blocked_by`."""
    plan_blockers: tuple[Blocker, ...] = ()
    """What blocks the whole plan."""
    problems: tuple[str, ...] = ()
    """Dependencies that block nothing, because it is not clear what they name."""
    unknown: tuple[str, ...] = ()
    """Dependencies that block nothing, because their projects are not known on this machine."""

    def to_json(self) -> dict[str, Any]:
        """Return what is claimed, blocked and unknown, as documents show it."""
        return {
            "taken": self.claimed_tasks,
            "blocked": self.blocked_tasks,
            "blocked_by": [blocker.to_json() for blocker in self.plan_blockers],
            "unknown_dependencies": list(self.unknown),
        }

    @property
    def is_yours(self) -> bool:
        """Whether the next task is claimed by the current author."""
        return self.task is not None and "by" in self.task

    @property
    def other_claimed_tasks(self) -> list[dict[str, Any]]:
        """Claimed tasks other than `task`."""
        return [task for task in self.claimed_tasks if self.task is None or task["id"] != self.task["id"]]


def find_open_tasks(
    project: Project, ref: PlanRef, plan: ParsedPlan, name: str | None = None, *, resolver: PlanResolver | None = None
) -> OpenTasks:
    """Find a plan's open tasks, their claims and what blocks them; `name` is the author, by default `--as` or the Git name.

    A task that is done in another worktree waits for the merge. `resolver` knows the plans that the plan may depend on; by default, those of its project.
    """
    directories = tasks_done_elsewhere(project, ref)
    claims_by_task = {
        task_id: claim
        for task_id, claim in claims.task_claims(project, ref, plan).items()
        if task_id not in directories  # the claim has ended there
    }
    blockers = find_blockers(resolver or PlanResolver(project), ref, plan)
    open_ids = [
        (task.number, task_id)
        for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True)
        if task.is_unfinished
    ]
    blockers = blockers._replace(tasks=(*blockers.tasks, *_merge_blockers(project, ref, open_ids, directories)))
    if not claims_by_task and not blockers.tasks:
        last_index = next((at for at, task in enumerate(plan.tasks) if task.is_unfinished), -1)
    else:
        last_index = len(plan.tasks)
    tasks = [
        fields
        for task, fields in zip(plan.tasks, tasks_json(plan.tasks[: last_index + 1], plan), strict=False)
        if task.is_unfinished
    ]
    return select_open_tasks(project, tasks, claims_by_task, name, blockers)


def tasks_done_elsewhere(project: Project, ref: PlanRef) -> dict[str, str]:
    """Return the directory of the worktree in which a task is done, by task ID."""
    if not has_linked_worktrees(project):
        return {}
    directories: dict[str, str] = features.load(features.TASKS_DONE_ELSEWHERE)(project, ref)
    return directories


def _merge_blockers(
    project: Project, ref: PlanRef, open_ids: Sequence[tuple[int, str]], directories: Mapping[str, str]
) -> list[tuple[int, tuple[Blocker, ...]]]:
    """Return the numbers of the open tasks that are done in another worktree, each with that as its blocker.

    `open_ids` has the number and ID of each open task.
    """
    path = project.display_path(ref.path)
    blocked: list[tuple[int, tuple[Blocker, ...]]] = []
    for number, task_id in open_ids:
        if task_id in directories:
            directory = os.path.relpath(directories[task_id])
            place = "this worktree" if directory == os.curdir else directory
            blocked.append((number, (Blocker(place, ref.id, path, task_id, MERGE_REASON),)))
    return blocked


def find_listed_open_tasks(plan: ListedPlan, claims_by_task: Mapping[str, Claim], resolver: PlanResolver) -> OpenTasks:
    """Find the open tasks of a plan whose facts are known, as `find_open_tasks` does; `claims_by_task` are its claims."""
    facts = plan.facts
    directories = tasks_done_elsewhere(plan.project, plan.ref)
    claims_by_task = {task_id: claim for task_id, claim in claims_by_task.items() if task_id not in directories}
    blockers = find_blockers_of(
        resolver, plan.ref, facts.dependencies, [(task.number, task.text) for task in facts.open_tasks]
    )
    open_ids = [(task.number, task.id) for task in facts.open_tasks]
    merge_blockers = _merge_blockers(plan.project, plan.ref, open_ids, directories)
    blockers = blockers._replace(tasks=(*blockers.tasks, *merge_blockers))
    count = None if claims_by_task or blockers.tasks else 1
    tasks = [task.to_json() for task in facts.open_tasks[:count]]
    return select_open_tasks(plan.project, tasks, claims_by_task, blockers=blockers)


def load_listed_claims(plans: Sequence[ListedPlan]) -> dict[str, dict[str, Claim]]:
    """Return the claims on the open tasks of plans, by path and task ID; the claims of each directory are read once.

    The same project in another worktree is another directory.
    """
    projects = {plan.project.base: plan.project for plan in plans}
    claims_by_path: dict[str, dict[str, Claim]] = {}
    for directory, project in projects.items():
        refs = [plan.ref for plan in plans if plan.project.base == directory and plan.state in (ACTIVE, DRAFT)]
        claims_by_path |= claims.load_task_claims(project, refs) if refs else {}
    open_ids = {plan.ref.path: {task.id for task in plan.facts.open_tasks} for plan in plans if claims_by_path}
    return {
        path: {task_id: claim for task_id, claim in plan_claims.items() if task_id in open_ids[path]}
        for path, plan_claims in claims_by_path.items()
    }


def select_open_tasks(
    project: Project,
    tasks: Sequence[dict[str, Any]],
    claims_by_task: Mapping[str, Claim],
    name: str | None = None,
    blockers: PlanBlockers = PlanBlockers(),  # noqa: B008 - an immutable record
) -> OpenTasks:
    """Select from the open tasks of a plan, given with their IDs; `name` is the author as in `find_open_tasks`."""
    claimed_tasks = [
        {**task, "by": claims_by_task[task["id"]].name, "until": claims_by_task[task["id"]].format_end()}
        for task in tasks
        if task["id"] in claims_by_task
    ]
    actor_name = (name or actor(project)) if claimed_tasks else ""
    blocked_tasks = [
        {**task, "blocked_by": [blocker.to_json() for blocker in blockers.of_task(task["number"])]}
        for task in tasks
        if blockers.of_task(task["number"])
    ]
    unavailable_ids = {*claims_by_task, *[task["id"] for task in blocked_tasks]}
    first_available = next((task for task in tasks if task["id"] not in unavailable_ids), None)
    own_task = next((task for task in claimed_tasks if task["by"] == actor_name), None)
    return OpenTasks(
        own_task or (None if blockers.plan else first_available),
        claimed_tasks,
        blocked_tasks,
        blockers.plan,
        blockers.problems,
        blockers.unknown,
    )


def blocked_task_ids(project: Project, ref: PlanRef, plan: ParsedPlan) -> frozenset[str]:
    """Return the IDs of the tasks that wait for other plans: all of them if the plan does."""
    return _blocked_ids(plan, find_open_tasks(project, ref, plan))


def _blocked_ids(plan: ParsedPlan, open_tasks: OpenTasks) -> frozenset[str]:
    if open_tasks.plan_blockers:
        return frozenset(task_ids(plan.tasks))
    return frozenset([task["id"] for task in open_tasks.blocked_tasks])


def claim_free_task(project: Project, ref: PlanRef, plan: ParsedPlan, name: str) -> tuple[str | None, tuple[str, ...]]:
    """Claim the task that `next --claim` gives to `name`; return its ID, and a warning if it or every free task is blocked.

    The ID is None if no task is free. Raises ExecplanError if the plan can't be read any more.
    """
    open_tasks = find_open_tasks(project, ref, plan, name)
    blocked_ids = _blocked_ids(plan, open_tasks)
    done_ids = tasks_done_elsewhere(project, ref)
    chosen_id = claims.claim_task(project, ref, name, claims.DEFAULT_HOURS, blocked=blocked_ids, done=done_ids)
    tasks = zip(task_ids(plan.tasks), plan.tasks, strict=True)
    open_ids = {chosen_id} if chosen_id else {task_id for task_id, task in tasks if task.is_unfinished}
    if blocked_ids.isdisjoint(open_ids):
        return chosen_id, ()
    problem = "the claimed task is blocked" if chosen_id else f"no task of {ref.id} was claimed"
    return chosen_id, (f"{problem}: {describe_blockers(open_tasks)}",)


def describe_blockers(open_tasks: OpenTasks) -> str:
    """Describe what blocks a plan, or its first blocked task, on one line for people; empty if nothing does."""
    if open_tasks.plan_blockers:
        return f"blocked by {join_blockers(open_tasks.plan_blockers)}"
    if not open_tasks.blocked_tasks:
        return ""
    task = open_tasks.blocked_tasks[0]
    return f"task {task['number']} waits for {_blocker_texts(task)}"


def describe_unknown(open_tasks: OpenTasks) -> str:
    """Describe the dependencies in projects that are not known on this machine; empty if there are none."""
    return f"unknown here: {', '.join(open_tasks.unknown)}" if open_tasks.unknown else ""


def blocked_line(task: dict[str, Any]) -> str:
    """Format a blocked task as a line for people."""
    return f"blocked: {task_line(task)}: waits for {_blocker_texts(task)}"


def _blocker_texts(task: dict[str, Any]) -> str:
    return ", ".join([f"{blocker['name']} ({blocker['reason']})" for blocker in task["blocked_by"]])


def describe_next_task(
    state: str,
    task: dict[str, Any] | None,
    claimed_tasks: Sequence[dict[str, Any]],
    finishing_command: str,
    blockers: str = "",
    unknown: str = "",
) -> str:
    """Describe a plan's next task and the claims of others, or why there is no next task.

    `finishing_command` is the command that a complete plan needs first, as in FINISHING_TEXTS; empty if a run is open.
    `blockers` and `unknown` are the texts of `describe_blockers` and `describe_unknown`.
    """
    suffix = f" ({unknown})" if unknown else ""
    other_claims = [claimed_task for claimed_task in claimed_tasks if task is None or claimed_task["id"] != task["id"]]
    claims = [f"{claimed_task['number']}. by {claimed_task['by']}" for claimed_task in other_claims]
    claimed = join_first(claims, _MAX_TASKS)
    if task:
        yours = " (claimed by you, in progress)" if "by" in task else ""
        return (
            f"{task['number']}. {task['text']}{mark_note(task)}{yours}"
            + (f" (claimed: {claimed})" if claimed else "")
            + suffix
        )
    if blockers:
        return blockers + (f" (claimed: {claimed})" if claimed else "") + suffix
    if claimed:
        return f"all open tasks are claimed: {claimed}"
    if state != COMPLETE:
        return "no tasks yet" if state in (DRAFT, ACTIVE) else ""
    return f"no open tasks{FINISHING_TEXTS.get(finishing_command, '')}"


def claim_line(task: dict[str, Any]) -> str:
    """Format a claimed task as a line for people."""
    return f"claimed by {task['by']} until {task['until']}: {task_line(task)}"


def first_lines(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a list of tasks, and how many are left out."""
    more = format_excess(len(lines), _MAX_TASKS, "")
    return [*lines[:_MAX_TASKS], *([f"{more}; all: --json"] if more else [])]
