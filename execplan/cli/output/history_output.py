"""Text of events in the history of plans, grouped by plan and commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import fit_line, paint
from execplan.cli.time_options import parse_entry_date
from execplan.core.plan.line_grammar import is_list_item
from execplan.core.text.message_parts import format_count, shorten
from execplan.core.timestamps import format_minute
from execplan.team.history import history_event
from execplan.team.history.history_event import HistoryEvent

_LABELS = {
    history_event.TASK_ADDED: "added",
    history_event.TASK_DONE: "done",
    history_event.TASK_REOPENED: "reopened",
    history_event.TASK_MARKED: "marked",
    history_event.TASK_REWORDED: "reworded",
    history_event.TASK_MOVED: "moved",
    history_event.TASK_REMOVED: "removed",
    history_event.SECTION_ADDED: "new section",
    history_event.SECTION_CHANGED: "section",
    history_event.SECTION_REMOVED: "section removed",
    f"{history_event.REVISION}-added": "revision note",
}
"""Labels of kinds of events in the first column; others are their kind without `-added`."""
_MIN_LABEL_WIDTH = 9
_STYLES = {
    history_event.CREATED: "bold",
    history_event.RENAMED: "bold",
    history_event.RETITLED: "bold",
    history_event.ARCHIVED: "bold",
    history_event.RESTORED: "bold",
    history_event.REPAIRED: "bold",
    history_event.DELETED: "bold red",
    history_event.BROKEN: "bold red",
    history_event.TASK_DONE: "green",
    history_event.TASK_REOPENED: "yellow",
    history_event.TASK_REMOVED: "red",
    history_event.DECISION + history_event.ADDED_SUFFIX: "cyan",
    history_event.DISCOVERY + history_event.ADDED_SUFFIX: "cyan",
    history_event.OUTCOME + history_event.ADDED_SUFFIX: "cyan",
}
_DETAIL_LABELS = {history_event.DECISION: "why", history_event.DISCOVERY: "evidence"}
_ITEM_INDENT = 2
"""Columns before the items of a list in a rationale, from its label."""
_MAX_EVENT_LENGTH = 240
"""Maximum characters of a text, except where details are shown."""
_COMMIT_DIGITS = 8
_DATE_LENGTH = len("2026-01-01")
_UNCOMMITTED = "not committed"


def format_events(events: Sequence[HistoryEvent], *, names_plan: bool, shows_details: bool = False) -> str:
    """Return events in groups, each below a line with time, author, commit and, with `names_plan`, the plan.

    The content of a new plan is summarized in one line. `shows_details` adds rationales and evidence; the line above a
    group then has the date that is written in the entry.
    """
    groups = []
    grouped = groupby(
        events,
        key=lambda event: (
            event.commit,
            event.path,
            event.time,
            event.author,
            event.entry_date if shows_details else "",
        ),
    )
    event_groups = [list(group) for _, group in grouped]
    shown_events = [event for group in event_groups for event in _shown_events(group, shows_details=shows_details)]
    label_width = _label_width(shown_events)
    for group_events in event_groups:
        header = _format_header(group_events[0], names_plan=names_plan, has_entry_date=shows_details)
        lines = format_changes(group_events, shows_details=shows_details, label_width=label_width)
        groups.append("\n".join([header, *lines]))
    return "\n\n".join(groups)


def format_changes(events: Sequence[HistoryEvent], *, shows_details: bool = False, label_width: int = 0) -> list[str]:
    """Return the lines of the events of one plan, without commit."""
    shown_events = _shown_events(events, shows_details=shows_details)
    label_width = label_width or _label_width(shown_events)
    lines = []
    for event in shown_events:
        summary = _content_summary(events) if event.kind == history_event.CREATED and not shows_details else ""
        text = _event_text(event) if shows_details else shorten(_event_text(event), _MAX_EVENT_LENGTH)
        lines += _format_event(event, f"{text}{summary}", label_width)
        if shows_details and event.detail:
            lines += _format_detail(event, label_width + 4)
    return lines


def changes_json(events: Iterable[HistoryEvent]) -> list[dict[str, Any]]:
    """Return events for the data of an answer, without who made them and when."""
    left_out = ("author", "time", "commit")
    return [{name: field for name, field in event.to_json().items() if name not in left_out} for event in events]


def _format_detail(event: HistoryEvent, indent: int) -> list[str]:
    """Return the lines of a rationale or of evidence; its blocks keep lines of their own."""
    first, *items = event.detail.split("\n")
    label = _DETAIL_LABELS.get(event.kind.partition("-")[0], "")
    if is_list_item(first):
        first, items = "", [first, *items]
    lines = fit_line(f"{'':{indent}}{label}: {_printable(first)}".rstrip(), indent=indent)
    for item in items:
        item_indent = indent + _ITEM_INDENT + len(item) - len(item.lstrip(" "))
        lines += fit_line(f"{'':{item_indent}}{_printable(item)}") if item else [""]
    return lines


def _shown_events(events: Sequence[HistoryEvent], *, shows_details: bool) -> list[HistoryEvent]:
    """Return the events of one plan that get a line; the content of a new plan is part of the line of its creation."""
    if shows_details or all([event.kind != history_event.CREATED for event in events]):
        return list(events)
    return [event for event in events if event.kind in (history_event.CREATED, history_event.BROKEN)]


def _label_width(events: Sequence[HistoryEvent]) -> int:
    return max([_MIN_LABEL_WIDTH, *[len(_label(event)) for event in events]])


def _label(event: HistoryEvent) -> str:
    return _LABELS.get(event.kind, event.kind.removesuffix(history_event.ADDED_SUFFIX).replace("-", " "))


def _format_header(event: HistoryEvent, *, names_plan: bool, has_entry_date: bool) -> str:
    time = format_minute(event.time) if event.commit else ""
    entry_moment = parse_entry_date(event.entry_date) if has_entry_date else None
    if entry_moment is not None:
        _, has_time = entry_moment
        time = format_minute(event.time) if has_time else event.entry_date[:_DATE_LENGTH]
    parts = [] if event.commit else [paint(_UNCOMMITTED, "yellow")]
    parts += [time] if time else []
    parts += [_printable(event.author)] if event.author else []
    parts += [paint(event.commit[:_COMMIT_DIGITS], "yellow")] if event.commit else []
    parts += [paint(_printable(event.plan_id), "bold")] if names_plan else []
    return "  ".join(parts)


def _format_event(event: HistoryEvent, text: str, label_width: int) -> list[str]:
    label = _label(event)
    first, *rest = fit_line(f"  {label:{label_width}}  {_printable(text)}", indent=label_width + 4)
    return [first.replace(label, paint(label, _STYLES.get(event.kind, "")), 1), *rest]


def _event_text(event: HistoryEvent) -> str:
    if event.kind in history_event.SECTION_EVENTS:
        counts = [(event.lines_added, "+"), (event.lines_removed, "-")]
        numbers = ", ".join([f"{sign}{count}" for count, sign in counts if count])
        text = event.text
        if numbers:
            text += f" ({numbers} {'line' if numbers in ('+1', '-1') else 'lines'})"
        return text + (f", was: {event.previous}" if event.previous else "")
    if event.kind == history_event.TASK_MARKED:
        return f"[{event.detail}] {event.text}"
    return f"{event.text} (was: {event.previous})" if event.previous and event.previous != event.text else event.text


def _content_summary(events: Iterable[HistoryEvent]) -> str:
    """Return the number of tasks and entries of a new plan, as in ` (3 tasks, 1 done; 2 decisions)`."""
    kinds = [event.kind for event in events]
    counts = []
    if history_event.TASK_ADDED in kinds:
        done = kinds.count(history_event.TASK_DONE)
        counts.append(format_count(kinds.count(history_event.TASK_ADDED), "task") + (f", {done} done" if done else ""))
    nouns = {
        history_event.DECISION: "decision",
        history_event.OUTCOME: "outcome",
        history_event.REVISION: "revision note",
    }
    for entry_kind, noun in nouns.items():
        count = kinds.count(entry_kind + history_event.ADDED_SUFFIX)
        counts += [format_count(count, noun)] if count else []
    discoveries = kinds.count(history_event.DISCOVERY + history_event.ADDED_SUFFIX)
    counts += [f"{discoveries} discover{'y' if discoveries == 1 else 'ies'}"] if discoveries else []
    return f" ({'; '.join(counts)})" if counts else ""


def _printable(text: str) -> str:
    return printable_line(" ".join(text.split()))
