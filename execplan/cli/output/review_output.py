"""What is new in a plan for a reviewer, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from difflib import unified_diff
from typing import Any, Final

from execplan.cli.error_handler import printable_line
from execplan.cli.output.comment_output import thread_lines
from execplan.cli.output.history_output import changes_json, format_changes
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest
from execplan.team.history.history_event import SECTION_CHANGED, TASK_ADDED, TASK_EVENTS, HistoryEvent
from execplan.team.history.version_reader import VersionUnits
from execplan.team.review.plan_review import PlanReview

_MAX_SECTION_LINES: Final = 30
"""Maximum number of changed lines of a section to show."""


def review_text(review: PlanReview) -> str:
    """Return the changes and the new comments as text."""
    lines = [review_heading(review), *format_changes(shown_events(review))]
    lines += ["", *new_comment_lines(review)] if review.new_threads else []
    return "\n".join(lines)


def new_comment_lines(review: PlanReview) -> list[str]:
    """Return the new comments with a heading, or nothing if there are none."""
    return ["new comments and replies:", *thread_lines(review.new_threads)] if review.new_threads else []


def shown_events(review: PlanReview) -> list[HistoryEvent]:
    """Return the events to show: of a task that is new to the reviewer and done, only that it is done."""
    counts = Counter([event.task_id for event in review.events if event.kind in TASK_EVENTS])
    return [event for event in review.events if event.kind != TASK_ADDED or counts[event.task_id] == 1]


def review_heading(review: PlanReview) -> str:
    """Return the line above the changes: how many there are, and since when."""
    count = format_count(len(shown_events(review)), "change")
    if review.last is None:
        return f"{review.ref.id}: {review.reviewer} has not reviewed it yet, so all of it is new"
    date = f"{review.last.time[:16].replace('T', ' ')}Z"
    return f"{review.ref.id}: {count if review.events else 'no changes'} since {review.reviewer} reviewed it on {date}"


def review_json(review: PlanReview, *, is_marked: bool) -> dict[str, Any]:
    """Return the review as a document shows it."""
    last = review.last
    return {
        "plan": review.ref.id,
        "path": review.project.display_path(review.ref.path),
        "digest": digest(review.data),
        "reviewer": review.reviewer,
        "reviewed": {"time": last.time, "digest": digest(last.data)} if last is not None else None,
        "events": changes_json(review.events),
        "comments": [placed.to_json() for placed in review.new_threads],
        "marked": is_marked,
    }


def section_change_lines(review: PlanReview, event: HistoryEvent) -> list[str]:
    """Return the changed lines of a section with `-` and `+` before them, or none for any other event."""
    if event.kind != SECTION_CHANGED or review.old is None:
        return []
    old_lines = _section_lines(review.old, event.previous or event.text)
    new_lines = _section_lines(review.new, event.text)
    lines = [
        line
        for line in list(unified_diff(old_lines, new_lines, n=0, lineterm=""))[2:]
        if not line.startswith("@@") and line[1:].strip()
    ]
    omitted = len(lines) - _MAX_SECTION_LINES
    shown_lines = [printable_line(line) for line in lines[:_MAX_SECTION_LINES]]
    return shown_lines + ([f"and {format_count(omitted, 'more line')}"] if omitted > 0 else [])


def _section_lines(version: VersionUnits, title: str) -> list[str]:
    part = next((part for part in version.parts if part.title == title), None)
    return part.text_lines(has_units=version.has_units(part)) if part is not None else []
