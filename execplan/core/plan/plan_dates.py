"""Dates of a plan: the latest one in its timestamps, its status and its history, and whether the plan is on hold."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.text.markdown_blocks import HEADING, ITEM, PARAGRAPH
from execplan.core.timestamps import minute_bounds, read_timestamp, utc_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import Entry, ParsedPlan, Task

_ON_HOLD_WORDS = ("superseded", "deferred", "on hold", "abandoned")
_SELF_WORDS = ("", "is", "was", "been", "now", "status", "plan", "fully", "partially")
"""Words before an on-hold word that make it the plan's own state rather than that of something else."""
_ON_HOLD_DIRECTORIES = frozenset(("deferred", "superseded", "backlog", "someday"))
_HISTORY_TITLES = ("revision", "history", "changelog", "change log")
"""Parts of section titles for the plan's own history."""
_STATUS_WORD = "status"
_STATUS_SEPARATORS = ("", *":(-–—=")
_MAX_STATUS_DISTANCE = 60
"""Number of lines from the start of the first section in which to look for a status."""
_MAX_STATUS_LINES = 12
"""Maximum number of lines of a status."""
_MAX_LINE_LENGTH = 1000


def log_entries(plan: ParsedPlan) -> tuple[Entry, ...]:
    """Return the entries of all logs of a plan."""
    return (*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions)


def latest_timestamp_date(plan: ParsedPlan) -> str:
    """Return the latest valid date in a plan's timestamps, in UTC; empty if there is none."""
    dates = {utc_date(task.timestamp) for task in plan.tasks if task.timestamp is not None}
    for entry in log_entries(plan):
        if entry.date:
            entry_timestamp = read_timestamp(entry.date)
            dates.add(entry.date[:10] if entry_timestamp is None else utc_date(entry_timestamp))
    for date in sorted(dates, reverse=True):
        timestamp = read_timestamp(date)
        if timestamp is not None and timestamp.is_valid:
            return date
    return ""


def day_start(date: str) -> int | None:
    """Return the minute in which a date begins in UTC; None if it is invalid."""
    timestamp = read_timestamp(f"{date}T00:00Z")
    span = minute_bounds(timestamp) if timestamp is not None else None
    return span[0] if span is not None else None


def latest_date(plan: ParsedPlan) -> str:
    """Return the latest date in a plan's timestamps, status or history; empty if there is none."""
    return max([latest_timestamp_date(plan), *_other_dates(plan)])


def is_on_hold(plan: ParsedPlan, path: str) -> bool:
    """Return whether a plan is on hold, according to its header, its directory, or the text above its open tasks."""
    if not _ON_HOLD_DIRECTORIES.isdisjoint(path.lower().split("/")[:-1]) or _says_on_hold(plan):
        return True
    open_tasks = plan.unfinished_tasks
    return bool(open_tasks) and _are_deferred(plan, open_tasks)


def _other_dates(plan: ParsedPlan) -> Iterator[str]:
    """Yield the dates in a header's status, and those at the start of items in a plan's history."""
    for line in _status_lines(plan):
        for word in line.replace("(", " ").replace(")", " ").replace(",", " ").replace(";", " ").split():
            yield from _parse_date(word.rstrip(":."))
    for section in plan.sections:
        if section.name is None and any([word in section.title.casefold() for word in _HISTORY_TITLES]):
            for block in plan.blocks[section.first_block : section.block_end]:
                if block.kind in (ITEM, PARAGRAPH):
                    yield from _parse_date(block.text.lstrip("*_`["))


def _parse_date(text: str) -> Iterator[str]:
    timestamp = read_timestamp(text[:10] if text[:1].isdigit() else text)
    if timestamp is not None and timestamp.is_valid:
        yield timestamp.date


def _status_lines(plan: ParsedPlan) -> list[str]:
    """Return the status lines at the start of a plan: before the first section, or early in it."""
    first_section = plan.sections[0].start if plan.sections else len(plan.text.lines)
    if _STATUS_WORD not in "\n".join(plan.text.lines[: first_section + _MAX_STATUS_DISTANCE]).casefold():
        return []
    lines: list[str] = []
    heading_lines = {block.start for block in plan.blocks if block.kind == HEADING}
    for at in range(min(first_section + _MAX_STATUS_DISTANCE, len(plan.text.lines))):
        if _is_status(plan.text.lines[at]):
            for status_line in range(at, min(at + _MAX_STATUS_LINES, len(plan.text.lines))):
                if status_line in heading_lines and status_line > at:
                    break
                lines.append(plan.text.lines[status_line][:_MAX_LINE_LENGTH])
            break
    return lines


def _is_status(line: str) -> bool:
    """Return whether a line starts with the word "status" and a separator."""
    bare = line.lstrip(" \t>-+*_#").casefold()
    return bare.startswith(_STATUS_WORD) and bare[len(_STATUS_WORD) :].lstrip(" *_")[:1] in _STATUS_SEPARATORS


def _says_on_hold(plan: ParsedPlan) -> bool:
    """Return whether a plan's header or status marks it as on hold."""
    first_section = plan.sections[0].start if plan.sections else len(plan.text.lines)
    return _defers(" ".join(_status_lines(plan))) or any(
        [_states_on_hold(line.casefold()) for line in plan.text.lines[:first_section]]
    )


def _states_on_hold(line: str) -> bool:
    """Return whether a header line gives an on-hold state.

    The word starts the line, is in parentheses, or follows a word such as `is`.
    """
    for word in _ON_HOLD_WORDS:
        prefix, keyword, _ = line[:_MAX_LINE_LENGTH].partition(word)
        last_word = prefix.rstrip(" >#*_:[-").rpartition(" ")[2].strip("*_")
        if keyword and (prefix.endswith("(") or last_word in _SELF_WORDS):
            return True
    return False


def _are_deferred(plan: ParsedPlan, tasks: list[Task]) -> bool:
    """Return whether every task is under a subheading or paragraph of Progress that defers it."""
    section = plan.section(outline.PROGRESS)
    if section is None:
        return False
    lead_blocks = [
        block
        for block in plan.blocks[section.first_block : section.block_end]
        if block.kind in (HEADING, PARAGRAPH) and not block.depth
    ]
    at, is_deferred = 0, False
    for task in tasks:
        while at < len(lead_blocks) and lead_blocks[at].start < task.start:
            is_deferred = _defers(" ".join(plan.text.lines[lead_blocks[at].start : lead_blocks[at].end]))
            at += 1
        if not is_deferred and not _defers(task.heading):
            return False
    return True


def _defers(text: str) -> bool:
    folded = text.casefold()
    return any([word in folded for word in _ON_HOLD_WORDS])
