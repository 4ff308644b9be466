"""The facts of a plan that was parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.plan.model import COMPLETE
from execplan.core.plan.placeholder_text import unfilled_sections
from execplan.core.plan.plan_dates import is_on_hold, latest_date
from execplan.core.plan.plan_dependencies import read_dependencies
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan.plan_recognition import document_reason, lacks_outcome
from execplan.core.plan.task_checks import find_check
from execplan.core.plan_facts.listed_plan import ListedPlan, OpenTask, PlanFacts, TaskCounts, broken_facts
from execplan.core.plan_store.plan_store import plan_title
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project


def list_stored_plan(stored_plan: StoredPlan) -> ListedPlan:
    """Return a plan that was read with its facts."""
    project, ref, data, plan, error = stored_plan
    if plan is None:
        return ListedPlan(project, ref, broken_facts(error.message if error is not None else ""))
    return ListedPlan(project, ref, extract_facts(project, ref, plan, digest(data)))


def extract_facts(project: Project, ref: PlanRef, plan: ParsedPlan, file_digest: str) -> PlanFacts:
    """Extract the facts from a parsed plan, given the digest of its file."""
    open_tasks = []
    for task, task_id in zip(plan.tasks, task_ids(plan.tasks), strict=True):
        if task.is_unfinished:
            check = find_check(plan, task)
            stamp = task.timestamp.text if task.timestamp is not None else None
            lines = task.depth, task.start, task.end, task.box_line
            command = check.command or None if check is not None else None
            open_tasks.append(OpenTask(task.number, task_id, task.text, task.mark, stamp, *lines, command))
    return PlanFacts(
        file_digest,
        plan_title(project, ref, plan.title),
        plan.state(),
        TaskCounts(**plan.counts()),
        tuple(open_tasks),
        tuple(read_dependencies(plan)),
        read_metadata(plan).id if plan.text.lines and plan.text.lines[0].startswith("---") else "",
        latest_date(plan),
        is_on_hold(plan, project.display_path(ref.path)),
        plan.conflict_lines[0] + 1 if plan.conflict_lines else 0,
        _finishing_command(plan, ref),
        "",
        document_reason(plan) if plan.is_document else "",
    )


def _finishing_command(plan: ParsedPlan, ref: PlanRef) -> str:
    """Return the command that a complete plan needs first, as `plan_advice` advises, or one archived with open tasks."""
    if ref.archived:
        return "restore" if plan.unfinished_tasks and not plan.is_archived_unfinished else ""
    if plan.state() != COMPLETE:
        return ""
    if plan.conflict_lines:
        return "merge"
    if lacks_outcome(plan):
        return "outcome"
    if unfilled_sections(plan):
        return "set"
    return "lint" if features.load(features.ARCHIVE_ERRORS)(plan) else "archive"
