"""Edits that check off tasks whose check has passed, each with a link to the transcript."""

from __future__ import annotations

from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.task_checks import find_check
from execplan.core.plan.task_edits import complete_tasks, find_tasks, inner_indent
from execplan.core.plan.transcript_links import LINK_TEXT, can_have_items
from execplan.core.text.text_lines import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Final

    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.plan.plan_change import ChangeBuilder, PlanChange

CHECKS_DIRECTORY: Final = "checks"
"""Name of the directory among a plan's artifacts with the transcripts of passed checks."""


def complete_verified_tasks(links: Mapping[str, str], now: datetime) -> ChangeBuilder:
    """Build a change that completes tasks, given by ID, and adds a line with each one's link, unless it is empty.

    A task that is already done gets the link only, unless it has one from an earlier check.
    """
    complete = complete_tasks(tuple(links), now)
    known_ids = list(links)

    def build_change(plan: ParsedPlan) -> PlanChange:
        tasks = find_tasks(plan, tuple(links), known_ids)
        completion = complete(plan)
        edits = [
            _link_edit(plan, task, links[task_id])
            for task_id, task in zip(known_ids, tasks, strict=True)
            if links[task_id] and can_have_items(task) and not (task.state == DONE and is_verified(plan, task))
        ]
        summary = (
            completion.summary if completion.edits else f"verify {', '.join([str(task.number) for task in tasks])}"
        )
        return completion._replace(edits=(*completion.edits, *edits), summary=summary)

    return build_change


def is_verified(plan: ParsedPlan, task: Task) -> bool:
    """Return whether a task has a link to the transcript of a check that has passed."""
    lines = plan.text.lines[task.end : task.item_end]
    return any([LINK_TEXT in line and f"/{CHECKS_DIRECTORY}/" in line for line in lines])


def task_of_id(plan: ParsedPlan, task_id: str) -> Task | None:
    """Return the task with an ID, or None if it is no longer in the plan."""
    ids = task_ids(plan.tasks)
    return plan.tasks[ids.index(task_id)] if task_id in ids else None


def _link_edit(plan: ParsedPlan, task: Task, href: str) -> Edit:
    """Return the edit that adds a link below a task's check, or below its text."""
    check = find_check(plan, task)
    line = check.end if check is not None else task.end
    bullet = task.item_block.mark if task.item_block.mark in ("-", "*", "+") else "-"
    return Edit(line, line, (f"{inner_indent(plan, task)}{bullet} {LINK_TEXT}({href})",))
