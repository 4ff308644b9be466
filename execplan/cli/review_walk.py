"""A review on a terminal: one change after the other, each of which can be commented on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from execplan.cli.error_handler import printable_line
from execplan.cli.output.history_output import format_changes
from execplan.cli.output.review_output import new_comment_lines, review_heading, section_change_lines, shown_events
from execplan.cli.output.terminal_text import printable_text
from execplan.core.errors import ExecplanError
from execplan.core.text.message_parts import shorten
from execplan.library.plan_api import Plan
from execplan.team.history.history_event import (
    ENTRY_KINDS,
    REMOVED_SUFFIX,
    SECTION_EVENTS,
    SECTION_REMOVED,
    TASK_EVENTS,
    TASK_REMOVED,
)
from execplan.team.review.comment_file import load_threads
from execplan.team.review.comment_threads import match_threads

if TYPE_CHECKING:
    from execplan.team.history.history_event import HistoryEvent
    from execplan.team.review.plan_review import PlanReview

_MAX_LABEL_LENGTH: Final = 60
_QUESTION = "[Enter] next  [c] comment  [q] quit: "


def walk_through(review: PlanReview) -> bool:
    """Show each change and the new comments, and return whether the end was reached.

    The content of a plan that is reviewed for the first time is shown at once.
    """
    _print(review_heading(review))
    events = shown_events(review)
    if review.last is None:
        _print("\n".join(format_changes(events)))
        if not _ask(review, None):
            return False
    for number, event in enumerate(events if review.last is not None else (), 1):
        lines = [f"{number} of {len(events)}", *format_changes([event], shows_details=True)]
        _print("\n".join(["", *lines, *[f"    {line}" for line in section_change_lines(review, event)]]))
        label = f"the task {event.text}" if event.kind in TASK_EVENTS else ""
        if not _ask(review, _part_of(event), label):
            return False
    if review.new_threads:
        _print("\n".join(["", *new_comment_lines(review)]))
        if not _ask(review, None):
            return False
    return True


def _ask(review: PlanReview, part: str | None, label: str = "") -> bool:
    """Ask what to do at a change, and comment on its part of the plan; return False to stop the review.

    `label` names the part for people, if `part` is only an ID.
    """
    while True:
        print(_QUESTION, end="", flush=True)
        line = sys.stdin.readline()
        answer = line.strip().lower()
        if not line or answer in ("q", "quit"):
            return False
        if answer in ("", "n", "next"):
            return True
        if answer in ("c", "comment"):
            name = shorten((label or part) if part is not None else "the plan", _MAX_LABEL_LENGTH)
            print(f"Comment on {printable_line(name)}: ", end="", flush=True)
            text = sys.stdin.readline().strip()
            if text:
                _comment(review, part, text)


def _comment(review: PlanReview, part: str | None, text: str) -> None:
    try:
        stored = Plan(review.project, review.ref).comment(text, on=part)
    except ExecplanError as error:
        print(f"execplan: {printable_line(error.message)}", file=sys.stderr)
        return
    if stored.record is not None:
        (thread,) = match_threads(load_threads(review.project, review.ref), stored.record.id)
        print(f"commented: {thread.short_id}")


def _part_of(event: HistoryEvent) -> str | None:
    """Return the part of the plan that an event is about, as `comment --on` takes it; None if it is gone."""
    kind = event.kind.partition("-")[0]
    if event.kind in TASK_EVENTS and event.kind != TASK_REMOVED:
        return event.task_id
    if event.kind in SECTION_EVENTS and event.kind != SECTION_REMOVED:
        return f"section {event.text}"
    if kind in ENTRY_KINDS and not event.kind.endswith(REMOVED_SUFFIX):
        return f"{kind} {event.text}"
    return None


def _print(text: str) -> None:
    print(printable_text(text), flush=True)
