"""The `itinerary` form of a summary: completed tasks with timestamps, the next task, and the tasks after it."""

from __future__ import annotations

import re

from execplan.context.summary import plan_facts
from execplan.context.summary.summary_pieces import (
    EARLIER_LABEL,
    MAX_PIECES,
    MORE_LABEL,
    Segment,
    Subject,
    SummaryPiece,
    SummarySection,
    escape_hidden,
    quote_text,
    unquoted_piece,
)
from execplan.core.plan.model import DONE, ParsedPlan, Task
from execplan.core.text.markdown_blocks import HEADING, Block

_MILESTONE = re.compile(r"(?:milestone|phase|stage|workstream|slice|unit|M\d)\b", re.IGNORECASE)
_DONE_GROUP, _OPEN_GROUP = "Behind", "Ahead"
_MILESTONE_RANK = 9
"""Rank of the first milestone; a few tasks rank higher."""


def build_itinerary(subject: Subject) -> list[SummarySection]:
    """Build the sections: overall progress, the named milestones, then the tasks in the order of the file."""
    progress, timestamp_range = plan_facts.plan_progress(subject), plan_facts.timestamp_range(subject)
    progress_piece = unquoted_piece(
        f"{progress.state.capitalize()}: {progress.task_counts}{f', {timestamp_range}' if timestamp_range else ''}."
    )
    progress_section = SummarySection("way", "", (progress_piece,))
    return [
        progress_section,
        SummarySection("milestones", "Milestones", tuple(_milestone_pieces(subject)), 0, MORE_LABEL),
        *_task_sections(subject),
    ]


def _milestone_pieces(subject: Subject) -> list[SummaryPiece]:
    """Return a piece for each heading outside the living sections that names a milestone."""
    pieces: list[SummaryPiece] = []
    for heading in _milestone_headings(subject.plan)[:MAX_PIECES]:
        quote = quote_text(subject, heading.text)
        if quote:
            rank = _MILESTONE_RANK + len(pieces)
            pieces.append(SummaryPiece((Segment("", quote),), "", rank, heading.start + 1, heading.end))
    return pieces


def _milestone_headings(plan: ParsedPlan) -> list[Block]:
    headings = [block for block in plan.blocks if block.kind == HEADING and block.level > 1 and not block.depth]
    living_ranges = [(section.start, section.end) for section in plan.sections if section.is_living]
    return [
        heading
        for heading in headings
        if _MILESTONE.match(heading.text.strip("*_ "))
        and not any([start <= heading.start < end for start, end in living_ranges])
    ]


def _task_sections(subject: Subject) -> list[SummarySection]:
    """Group the tasks by the subheadings of Progress; without subheadings, by completed and open tasks."""
    tasks = [task for task in subject.plan.tasks if plan_facts.has_text(task)]
    open_tasks = plan_facts.open_tasks(subject)
    next_index = next((index for index, task in enumerate(tasks) if open_tasks and task is open_tasks[0]), len(tasks))
    has_headings = any([task.heading for task in tasks])
    pieces_by_group: dict[str, list[SummaryPiece]] = {}
    omitted_by_group: dict[str, int] = {}
    for index, task in enumerate(tasks):
        if has_headings:
            group = task.heading
        elif task.is_unfinished:
            group = _OPEN_GROUP
        else:
            group = _DONE_GROUP
        rank = 2 * (index - next_index) if index >= next_index else 2 * (next_index - index) - 1
        is_far = abs(index - next_index) > MAX_PIECES
        pieces = [] if is_far else _task_pieces(subject, task, rank, is_next=index == next_index)
        pieces_by_group.setdefault(group, []).extend(pieces)
        if not pieces:
            omitted_by_group[group] = omitted_by_group.get(group, 0) + 1
    sections = []
    for index, (name, pieces) in enumerate(pieces_by_group.items(), 1):
        omitted_label = EARLIER_LABEL if all([piece.rank % 2 for piece in pieces]) else MORE_LABEL
        name_and_heading = (f"tasks-{index}", quote_text(subject, name)) if has_headings else (name.lower(), name)
        sections.append(
            SummarySection(*name_and_heading, tuple(pieces), 0, omitted_label, omitted_by_group.get(name, 0))
        )
    return sections


def _task_pieces(subject: Subject, task: Task, rank: int, *, is_next: bool) -> list[SummaryPiece]:
    """Return the piece for a task with its checkbox, number and timestamp; tasks near the next one rank higher."""
    quote = quote_text(subject, task.text)
    if not quote:
        return []
    timestamp = (
        f"{plan_facts.format_timestamp(task.timestamp)} " if task.timestamp is not None and task.state == DONE else ""
    )
    lead = f"[{escape_hidden(task.mark)}] {task.number}. {timestamp}"
    tail = f" (next: {subject.ids[task.number - 1]})" if is_next else ""
    return [SummaryPiece((Segment(lead, quote),), tail, rank, task.box_line + 1, task.end)]
