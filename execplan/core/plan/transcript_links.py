"""Edits that a run makes in Progress: complete a task with a link to the transcript, and undo that."""

from __future__ import annotations

from execplan.core.plan.model import DONE, Task
from execplan.core.plan.plan_change import PlanChange, plan_content
from execplan.core.plan.plan_lookup import find_task, normalize_text
from execplan.core.plan.task_edits import complete_tasks, find_tasks, inner_indent, reopen_tasks
from execplan.core.text.markdown_blocks import ITEM
from execplan.core.text.text_lines import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder

LINK_TEXT = "[transcript]"
"""Text of a link to a transcript."""


def complete_run_task(query: str, now: datetime, href: str) -> ChangeBuilder:
    """Build a change that completes the matching task and adds a line with the link below its text, if there is one.

    A task that is already done stays unchanged.
    """
    complete_task = complete_tasks([query], now)
    known_ids: list[str] = []

    def build_change(plan: ParsedPlan) -> PlanChange:
        task = find_tasks(plan, [query], known_ids)[0]
        completion = complete_task(plan)
        has_place = bool(href) and can_have_items(task)
        if not completion.edits or not has_place or find_transcript_link(plan, task, href) >= 0:
            return completion
        bullet = task.item_block.mark if task.item_block.mark in ("-", "*", "+") else "-"
        line = f"{inner_indent(plan, task)}{bullet} {LINK_TEXT}({href})"
        return completion._replace(edits=(*completion.edits, Edit(task.end, task.end, (line,))))

    return build_change


def reopen_run_task(text: str, href: str, box_lines: tuple[str, str] | None) -> ChangeBuilder:
    """Build a change that removes the link and reopens its task; without a link, the task with this text.

    `box_lines` are the checkbox line as the run wrote it and as it was before; the latter is restored if the line was
    not edited since.
    """

    def build_change(plan: ParsedPlan) -> PlanChange:
        task, link_line = _find_completed_task(plan, text, href)
        content = plan_content(plan)
        link_edits = () if link_line < 0 else (Edit(link_line, link_line + 1, ()),)
        if task.state != DONE:
            return PlanChange(link_edits, content, f"reopen {task.number}, {task.text}", ())
        reopening = reopen_tasks([str(task.number)])(plan)
        is_unedited = box_lines is not None and plan.text.lines[task.box_line] == box_lines[0]
        if box_lines is not None and is_unedited and task.status is None:
            mark = box_lines[1][box_lines[0].index(f"[{task.mark}]") + 1]
            expected = [*content.tasks[: task.number - 1], (mark, task.text), *content.tasks[task.number :]]
            reopening = reopening._replace(
                edits=(Edit(task.box_line, task.box_line + 1, (box_lines[1],)),),
                expected_content=content._replace(tasks=tuple(expected)),
            )
        return reopening._replace(edits=(*reopening.edits, *link_edits))

    return build_change


def can_have_items(task: Task) -> bool:
    """Return whether a task can contain items, such as links: it is one itself, and no heading or row of a table."""
    return task.item_block.kind == ITEM


def find_transcript_link(plan: ParsedPlan, task: Task, href: str) -> int:
    """Return the line below a task that links to the transcript, or -1."""
    lines = plan.text.lines
    link = f"{LINK_TEXT}({href})"
    link_lines = [index for index in range(task.end, task.item_end) if lines[index].strip(" \t")[2:] == link]
    return link_lines[0] if link_lines and href else -1


def _find_completed_task(plan: ParsedPlan, text: str, href: str) -> tuple[Task, int]:
    """Return the task with the link and the line of the link; without a link, the done task with the text, and -1.

    Raises ExecplanError if there is no such task.
    """
    for task in reversed(plan.tasks):  # a nested task comes after the one that contains it
        link_line = find_transcript_link(plan, task, href)
        if link_line >= 0:
            return task, link_line
    same_tasks = [
        task for task in plan.tasks if task.state == DONE and normalize_text(task.text) == normalize_text(text)
    ]
    return (same_tasks[0] if len(same_tasks) == 1 else find_task(plan, text)[1]), -1
