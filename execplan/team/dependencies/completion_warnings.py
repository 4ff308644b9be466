"""Warnings about tasks that were checked off before what they wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_dependencies import read_dependencies
from execplan.team.dependencies.plan_blockers import find_blockers_of, join_blockers
from execplan.team.dependencies.plan_resolver import PlanResolver

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.edits.plan_writer import EditResult
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


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
