"""A plan as the board shows it when it is opened: its tasks with claims, and its text as markdown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import read_failure
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.comment_location import has_comments
from execplan.core.project import project_discovery
from execplan.core.text.invisible_characters import escape_unprintable, escape_unprintable_lines
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest
from execplan.library.plan_api import Plan
from execplan.team.review.plan_comments import load_comments

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan

_MAX_CHARS = 200_000
"""Maximum number of characters that are laid out; more take seconds."""


class ViewedTask(NamedTuple):
    """A task of an opened plan."""

    number: int
    id: str
    state: str
    mark: str
    """Character in the checkbox."""
    text: str
    depth: int
    by: str
    """Name of the author who has claimed it; empty if nobody has."""


class OpenedPlan(NamedTuple):
    """A plan that the user has opened."""

    title: str
    path: str
    """Path from the repository root."""
    digest: str
    tasks: tuple[ViewedTask, ...]
    markdown: str
    """The text of the plan, with control characters and invisible characters escaped."""
    error: str
    """Why the plan can't be read; then there are no tasks."""


def load_opened_plan(path: str, *, is_read_only: bool = False) -> OpenedPlan:
    """Load the plan in a file. Raises ExecplanError if there is no such plan; a damaged plan has an error instead.

    With `is_read_only`, nothing is written in its project, where an interrupted move is not finished either.
    """
    plan = _find_in_other_project(path) if is_read_only else Plan.find(path, ".")
    display_path = plan.project.display_path(plan.path)
    stored_plan = plan_store.load(plan.project, plan.ref)
    parsed_plan = stored_plan.plan
    if parsed_plan is None:
        error = read_failure(stored_plan.error, plan.path) if stored_plan.error is not None else ""
        return OpenedPlan(plan.id, display_path, digest(stored_plan.data), (), "", error)
    claims_by_task = claims.task_claims(plan.project, plan.ref, parsed_plan)
    tasks = [
        ViewedTask(
            task.number,
            task_id,
            task.state,
            task.mark,
            task.text,
            task.depth,
            claims_by_task[task_id].name if task_id in claims_by_task else "",
        )
        for task, task_id in zip(parsed_plan.tasks, task_ids(parsed_plan.tasks), strict=True)
    ]
    text = "\n".join(parsed_plan.text.lines)
    markdown = escape_unprintable_lines(text[:_MAX_CHARS])
    if len(text) > _MAX_CHARS:
        markdown += f"\n\n---\n\nThe rest is left out: the plan has {len(text):,} characters."
    markdown += _format_comments(plan, parsed_plan)
    return OpenedPlan(parsed_plan.title or plan.id, display_path, digest(stored_plan.data), tuple(tasks), markdown, "")


def _find_in_other_project(path: str) -> Plan:
    project = project_discovery.find_read_only(os.path.dirname(path))
    return Plan(project, plan_store.ref_for_path(project, path))


def _format_comments(plan: Plan, parsed_plan: ParsedPlan) -> str:
    """Return the open review comments as markdown: an indented block, from which no comment can break out."""
    if not has_comments(plan.project, plan.ref):
        return ""
    try:
        threads = load_comments(plan.project, plan.ref, parsed_plan).open_threads
    except ExecplanError as error:
        return f"\n\n---\n\nThe comments can't be read: {escape_unprintable(error.message)}"
    lines: list[str] = []
    for placed in threads:
        lines.append(f"{placed.thread.short_id}  on {placed.label}")
        for record in (placed.thread.comment, *placed.thread.replies):
            first, *rest = record.text.splitlines() or [""]
            lines += [f"  {record.author}, {record.time[:10]}: {first}", *[f"    {line}" for line in rest]]
    block = "\n".join([f"    {escape_unprintable(line)}" for line in lines])
    return f"\n\n---\n\n{format_count(len(threads), 'open comment')}:\n\n{block}" if threads else ""
