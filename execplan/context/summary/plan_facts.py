"""Facts about a plan that summaries use: its purpose, progress, next tasks, and newest log entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from execplan.context.summary.plan_sentences import (
    Sentence,
    best_sentences,
    has_alphanumeric,
    read_entries,
    read_sentences,
    topic_words,
)
from execplan.context.summary.summary_pieces import Subject, escape_hidden
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.entry_format import is_newest_first
from execplan.core.plan.model import ARCHIVED, DONE, Entry, ParsedPlan, Section, Task
from execplan.core.plan.section_roles import PURPOSE, RISKS, find_role, guess_role, has_role, title_words
from execplan.core.timestamps import Timestamp

_RISK_WORDS = re.compile(
    r"\b(?:(?:residual|remaining|open|known|main) risks?|risks?(?=[:：])|irreversible|data loss|caveats?|"
    r"known (?:issue|limitation|gap)s?)\b",
    re.IGNORECASE,
)
"""Pattern for words that name a risk, used if no section does."""
_NEGATED = re.compile(
    r"(?:there (?:is|are|were) )?(?:no|none|zero|without|not any)\b[^.;:]{0,60}"
    r"\b(?:risks?|regressions?|issues?|blockers?|concerns?|problems?|failures?|gaps?|limitations?|caveats?|loss)\b",
    re.IGNORECASE,
)
"""Pattern for a risk that there is not."""
_MAX_RISK_TITLE_WORDS = 4
_MAX_ZONE_CHARS = 24
_DEVIATION_WORDS = re.compile(
    r"\b(?:however|unexpected(?:ly)?|turned out|contrary|deviat\w+|deferred|skipped|abandoned|"
    r"could not|was not possible|reverted|fell back|differently)\b",
    re.IGNORECASE,
)
"""Pattern for words that describe a deviation from the plan."""


def purpose_sentences(subject: Subject) -> list[Sentence]:
    """Return the sentences that best describe the purpose of the plan, the best first."""
    plan = subject.plan
    topics = topic_words(plan.title or "")
    task_lines = {line for task in plan.tasks for line in range(task.start, task.end)}
    for start, end in _purpose_ranges(plan):
        sentences = [sentence for sentence in read_sentences(plan, start, end) if sentence.start not in task_lines]
        if sentences:
            return best_sentences(sentences, topics, subject.length.max_words // 2)
    return []


def _purpose_ranges(plan: ParsedPlan) -> Iterator[tuple[int, int]]:
    """Yield line ranges that may state the purpose.

    These are the Purpose section, sections with a similar title, the introduction, the context, and any section that is
    not living.
    """
    purpose_sections = [plan.section(outline.PURPOSE)]
    purpose_sections += [
        section
        for section in plan.sections
        if section.name is None and has_role(section.title, PURPOSE, plan.text.titles)
    ]
    yield from _section_ranges(purpose_sections)
    yield plan.title_line + 1, plan.sections[0].start if plan.sections else len(plan.text.lines)
    yield from _section_ranges([plan.section(outline.CONTEXT)])
    yield from _section_ranges([section for section in plan.sections if section.name not in outline.LIVING])


def _section_ranges(sections: Sequence[Section | None]) -> Iterator[tuple[int, int]]:
    for section in sections:
        if section is not None:
            yield section.body_start, section.notes_start


def has_text(task: Task) -> bool:
    """Return whether the text of a task has a letter or a digit."""
    return has_alphanumeric(task.text)


def open_tasks(subject: Subject) -> list[Task]:
    """Return the tasks that still need work, the next one first."""
    placeholder_lines = frozenset(subject.plan.placeholder_lines)
    return [
        task
        for task in subject.plan.tasks
        if task.is_unfinished and task.box_line not in placeholder_lines and has_text(task)
    ]


def dropped_tasks(subject: Subject) -> list[Task]:
    """Return the dropped tasks."""
    return [task for task in subject.plan.tasks if task.is_dropped and has_text(task)]


def done_tasks(subject: Subject) -> list[Task]:
    """Return the completed tasks, newest first: by timestamp if all have one, else by position."""
    tasks = [task for task in subject.plan.tasks if task.state == DONE and has_text(task)]
    if all([task.timestamp is not None and task.timestamp.is_valid for task in tasks]):
        tasks.sort(key=lambda task: (earliest_minute(task.timestamp) or 0, task.number))
    return tasks[::-1]


def earliest_minute(timestamp: Timestamp | None) -> int | None:
    """Return the first minute since 1970 that a timestamp may mean; without an offset, it is read as UTC."""
    from execplan.core.timestamps import minute_bounds

    if timestamp is None or not timestamp.is_valid:
        return None
    zoned_timestamp = timestamp if timestamp.zone.strip()[:1] in ("Z", "+", "-") else timestamp._replace(zone="Z")
    minute_range = minute_bounds(zoned_timestamp)
    return minute_range[0] if minute_range is not None else None


def sorted_timestamps(tasks: Sequence[Task]) -> list[Timestamp]:
    """Return the valid timestamps of tasks in chronological order."""
    timestamps = [task.timestamp for task in tasks if task.timestamp is not None and task.timestamp.is_valid]
    return sorted(timestamps, key=lambda stamp: (earliest_minute(stamp) or 0, stamp.text))


def newest_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries of a log, newest first, without table rows."""
    log_entries = [entry for entry in entries if not entry.text.startswith("|")]
    return log_entries if is_newest_first(entries) else log_entries[::-1]


class PlanProgress(NamedTuple):
    """Progress of a plan as text and numbers."""

    state: str
    task_counts: str
    last_date: str
    """Date of the last completed task, or empty."""
    template_note: str
    """Note about remaining template text, or empty."""

    @property
    def summary(self) -> str:
        """Return everything except the state."""
        last_note = f", last timestamp {self.last_date}" if self.last_date else ""
        return f"{self.task_counts}{last_note}" + (f", {self.template_note}" if self.template_note else "")


def format_timestamp(timestamp: Timestamp) -> str:
    """Format a timestamp; an overlong time zone is left out."""
    return escape_hidden(
        timestamp.date_time
        if len(timestamp.zone) <= _MAX_ZONE_CHARS
        else timestamp.date + timestamp.time_separator + timestamp.time
    )


def timestamp_range(subject: Subject) -> str:
    """Return the range of the timestamps as text, or an empty string."""
    timestamps = sorted_timestamps(subject.plan.tasks)
    if not timestamps:
        return ""
    first, last = format_timestamp(timestamps[0]), format_timestamp(timestamps[-1])
    return f"timestamps from {first} to {last}" if first != last else f"timestamp {first}"


def plan_progress(subject: Subject) -> PlanProgress:
    """Return the plan's state, its task counts, and the date of the last completed task."""
    plan = subject.plan
    counts = plan.counts()
    done_count, total_count = counts["done"], counts["total"]
    task_counts = f"{done_count} of {total_count} tasks done" if total_count else "no tasks"
    if counts["other"]:
        task_counts += f", {plan.other_states_text}"
    if subject.state == ARCHIVED and counts["open"]:
        task_counts += f", {counts['open']} left open"
    timestamps = sorted_timestamps([task for task in plan.tasks if task.state == DONE])
    last_date = timestamps[-1].date if timestamps else ""
    placeholder_count = len(plan.placeholder_lines)
    if placeholder_count:
        template_note = f"{placeholder_count} {'lines' if placeholder_count > 1 else 'line'} of placeholder text left"
    else:
        template_note = ""
    return PlanProgress(subject.state, task_counts, last_date, template_note)


def risk_entries(subject: Subject) -> list[Sentence]:
    """Return the entries below headings about risks, or else sentences that name a risk."""
    plan = subject.plan
    entries = [entry for start, end in _risk_ranges(plan) for entry in read_entries(plan, start, end)]
    if not entries:
        entries = matching_sentences(plan, (outline.OUTCOMES, outline.SURPRISES, outline.RECOVERY), _RISK_WORDS)
    return [entry for entry in entries if not _NEGATED.search(entry.text)]


def _risk_ranges(plan: ParsedPlan) -> Iterator[tuple[int, int]]:
    """Yield the line ranges below headings about risks, up to the next heading of the same or a higher level."""
    headings = [block for block in plan.blocks if block.kind == "heading" and not block.depth]
    level, start = 0, 0  # the level and start of the current risk heading
    for heading in headings:
        if level and heading.level <= level:
            yield start, heading.start
            level = 0
        if level or heading.level == 1 or heading.start == plan.title_line:
            continue
        is_short = len(title_words(heading.text)) <= _MAX_RISK_TITLE_WORDS and find_role(heading.text, {}) is None
        if find_role(heading.text, plan.text.titles) == RISKS or (is_short and guess_role(heading.text) == RISKS):
            level, start = heading.level, heading.end
    if level:
        yield start, len(plan.text.lines)


def deviation_sentences(subject: Subject) -> list[Sentence]:
    """Return sentences about deviations from the plan."""
    return matching_sentences(subject.plan, (outline.OUTCOMES, outline.PROGRESS), _DEVIATION_WORDS)


def matching_sentences(plan: ParsedPlan, section_names: Sequence[str], pattern: re.Pattern[str]) -> list[Sentence]:
    """Return the sentences of some sections that match a pattern, in the order of the sections."""
    sentences_by_section = [
        read_sentences(plan, start, end)
        for start, end in _section_ranges([plan.section(name) for name in section_names])
    ]
    return [sentence for sentences in sentences_by_section for sentence in sentences if pattern.search(sentence.text)]
