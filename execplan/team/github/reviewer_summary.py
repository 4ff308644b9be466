"""A summary for reviewers, as markdown: what changed in plans, their open questions and findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from execplan.core.text.markdown_escape import escape_markdown
from execplan.core.text.message_parts import format_count, format_excess, shorten
from execplan.linter.rule import ERROR, HINT, WARNING
from execplan.team.github.plan_report import PlanReport, count_levels
from execplan.team.history.history_event import (
    ADDED_SUFFIX,
    CHANGED_SUFFIX,
    CREATED,
    DECISION,
    DISCOVERY,
    ENTRY_KINDS,
    OUTCOME,
    PLAN_EVENTS,
    REMOVED_SUFFIX,
    RENAMED,
    RETITLED,
    REVISION,
    SECTION_EVENTS,
    TASK_ADDED,
    TASK_DONE,
    TASK_EVENTS,
    TASK_MARKED,
    TASK_MOVED,
    TASK_REMOVED,
    TASK_REOPENED,
    TASK_REWORDED,
    HistoryEvent,
)

_MAX_ITEMS: Final = 50
"""Maximum number of items in a list of one plan; the number of the others follows."""
_MAX_LENGTH: Final = 500
"""Maximum length of a quoted text in characters."""
_ENTRY_NOUNS: Final = {
    DECISION: "Decisions",
    DISCOVERY: "Discoveries",
    OUTCOME: "Outcomes",
    REVISION: "Revision notes",
}
_HEADINGS: Final = {
    TASK_DONE: "Tasks done",
    TASK_ADDED: "Tasks added",
    TASK_REOPENED: "Tasks reopened",
    TASK_REWORDED: "Tasks reworded",
    TASK_MARKED: "Tasks marked",
    TASK_MOVED: "Tasks moved",
    TASK_REMOVED: "Tasks removed",
    **{
        kind + suffix: _ENTRY_NOUNS[kind] + label
        for kind in (DECISION, DISCOVERY, OUTCOME, REVISION)
        for suffix, label in ((ADDED_SUFFIX, ""), (CHANGED_SUFFIX, " changed"), (REMOVED_SUFFIX, " removed"))
    },
}
"""Headings of the lists, in their order, by kind of event."""
_LEVEL_MARKS: Final = {ERROR: "❌", WARNING: "⚠️", HINT: "💡"}
_DETAIL_LABELS: Final = {DECISION: "Why", DISCOVERY: "Evidence"}


def format_summary(reports: Sequence[PlanReport], max_bytes: int) -> str:
    """Return the summary as markdown of at most `max_bytes` bytes in UTF-8; plans that don't fit are counted at its end.

    Text of plans can't add markup, HTML, links or mentions.
    """
    if not reports:
        return "## Plans\n\nNo plan was changed.\n"
    sections = [_format_heading(reports), *["\n".join(_plan_lines(report)) + "\n" for report in reports]]
    summary: list[str] = []
    size = 0
    for index, section in enumerate(sections):
        note = _omitted_note(len(sections) - max(index, 1))
        size += len(section.encode()) + 1
        is_last = index == len(sections) - 1
        if size + (0 if is_last else len(note)) > max_bytes:
            return "\n".join([*summary, note])
        summary.append(section)
    return "\n".join(summary)


def _omitted_note(count: int) -> str:
    return f"{format_count(count, 'more plan')} changed; GitHub limits the size of a summary.\n"


def _format_heading(reports: Sequence[PlanReport]) -> str:
    kinds = [event.kind for report in reports for event in report.change.events]
    counts = [
        format_count(kinds.count(kind), noun) + verb
        for kind, noun, verb in (
            (TASK_DONE, "task", " done"),
            (TASK_ADDED, "task", " added"),
            (DECISION + ADDED_SUFFIX, "decision", ""),
        )
        if kind in kinds
    ]
    question_count = sum([len(report.questions) for report in reports])
    counts += [format_count(question_count, "open question")] if question_count else []
    comment_count = sum([len(report.comments) for report in reports])
    counts += [format_count(comment_count, "open comment")] if comment_count else []
    counts += [format_count(count, level) for level, count in count_levels(reports).items() if count]
    return f"## {format_count(len(reports), 'plan')} changed\n\n{', '.join(counts) or 'No tasks, decisions or findings'}.\n"


def _plan_lines(report: PlanReport) -> Iterator[str]:
    """Yield the lines of a plan: its title, place and state, then its lists."""
    change = report.change
    yield f"### {_quote(report.title)}"
    yield ""
    yield f"{_describe_state(report)} · {_quote(change.path)}"
    yield from _list_lines(
        "Changes", [line for event in change.events for line in _plan_event_lines(event, report.title)]
    )
    is_new = any([event.kind == CREATED for event in change.events])
    for kind, heading in _HEADINGS.items():
        events = [event for event in change.events if event.kind == kind]
        if is_new and kind == TASK_ADDED:
            done_texts = {event.text for event in change.events if event.kind == TASK_DONE}
            events = [event for event in events if event.text not in done_texts]
        yield from _list_lines(heading, [_format_event(event) for event in events])
    sections = [_format_section(event) for event in change.events if event.kind in SECTION_EVENTS]
    yield from _list_lines("Sections", sections)
    yield from _list_lines(
        "Open questions",
        [f"{_quote(question.text)} <sub>{_quote(question.heading)}</sub>" for question in report.questions],
    )
    yield from _list_lines(
        "Open comments",
        [
            f"{_quote(placed.thread.comment.text)} <sub>{_quote(placed.label)} · {_quote(placed.thread.comment.author)}</sub>"
            for placed in report.comments
        ],
    )
    yield from _list_lines(
        "Findings",
        [
            f"{_LEVEL_MARKS[finding.level]} {finding.level} `{finding.code}` line {finding.line}: {_quote(finding.message)}"
            for finding in report.findings
        ],
    )


def _describe_state(report: PlanReport) -> str:
    counts = report.counts
    if not counts or not counts["total"]:
        return f"**{report.state}**"
    return f"**{report.state}**, {counts['done']} of {format_count(counts['total'], 'task')} done"


def _plan_event_lines(event: HistoryEvent, title: str) -> Iterator[str]:
    """Yield what happened to the plan itself, rather than to its tasks, entries and sections."""
    if event.kind in PLAN_EVENTS:
        label = event.kind.capitalize()
        if event.kind in (RENAMED, RETITLED):
            yield f"{label}, was: {_quote(event.previous)}"
        elif event.kind == CREATED:
            yield "New plan"
        else:
            yield label if event.text in (title, event.plan_id) else f"{label}: {_quote(event.text)}"


def _format_event(event: HistoryEvent) -> str:
    """Return the item of a task or an entry."""
    text = _quote(event.text)
    if event.kind == TASK_MARKED:
        text = f"{_quote(f'[{event.detail}]')} {text}"
    if event.previous and event.previous != event.text:
        text += f" (was: {_quote(event.previous)})"
    entry_kind = next((kind for kind in ENTRY_KINDS if event.kind.startswith(kind)), "")
    if event.detail and entry_kind in _DETAIL_LABELS and event.kind not in TASK_EVENTS:
        text += f"<br>*{_DETAIL_LABELS[entry_kind]}:* {_quote(event.detail)}"
    return text


def _format_section(event: HistoryEvent) -> str:
    numbers = [f"{sign}{count}" for sign, count in (("+", event.lines_added), ("-", event.lines_removed)) if count]
    verb = event.kind.removeprefix("section-")
    noun = "line" if event.lines_added + event.lines_removed == 1 else "lines"
    return f"{_quote(event.text)} {verb}" + (f" ({', '.join(numbers)} {noun})" if numbers else "")


def _list_lines(heading: str, items: Sequence[str]) -> Iterator[str]:
    """Yield a list below its heading; nothing without items."""
    if not items:
        return
    yield ""
    yield f"**{heading}**"
    yield ""
    yield from [f"- {item}" for item in items[:_MAX_ITEMS]]
    if len(items) > _MAX_ITEMS:
        yield f"-{format_excess(len(items), _MAX_ITEMS)}"


def _quote(text: str) -> str:
    return escape_markdown(shorten(" ".join(text.split()), _MAX_LENGTH))
