"""Comparison of two versions of a plan in the plan's terms: tasks, entries and sections instead of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from execplan.core.plan.merge.merge_units import NOTES, TASK, MergeUnit
from execplan.core.plan.merge.unit_matching import match_to_base
from execplan.core.plan.model import Entry
from execplan.core.text.sequence_alignment import align_sequences
from execplan.team.history.history_event import (
    ADDED_SUFFIX,
    CHANGED_SUFFIX,
    ENTRY_KINDS,
    REMOVED_SUFFIX,
    RETITLED,
    SECTION_ADDED,
    SECTION_CHANGED,
    SECTION_REMOVED,
    HistoryEvent,
)
from execplan.team.history.task_comparison import changed_task_lines, compare_tasks
from execplan.team.history.version_reader import PlanPart, VersionUnits


def compare_versions(old: VersionUnits | None, new: VersionUnits) -> list[HistoryEvent]:
    """Return the events that lead from one version to another, in the order of a plan; for a new plan, its content.

    Sections of a new plan have no events of their own.
    """
    events = []
    if old is not None and old.title != new.title:
        events.append(HistoryEvent(RETITLED, new.title or "", previous=old.title or ""))
    if old is None or not new.has_same_parts(old, TASK):
        events += compare_tasks(old.tasks if old is not None else [], new.tasks)
    for kind in ENTRY_KINDS:
        if old is not None and new.has_same_parts(old, kind):
            continue
        old_units, new_units = old.entries(kind) if old is not None else [], new.entries(kind)
        events += _compare_entries(kind, old_units, new_units)
    return events + (_compare_sections(old, new) if old is not None else [])


def _compare_entries(kind: str, old_units: Sequence[MergeUnit], new_units: Sequence[MergeUnit]) -> list[HistoryEvent]:
    """Return the entries of one kind that were added or changed, then those that were removed."""
    places_by_old = match_to_base(old_units, new_units)
    old_by_new = {places[0]: old_index for old_index, places in places_by_old.items()}
    events = []
    for new_index, new_unit in enumerate(new_units):
        if new_index not in old_by_new:
            events.append(_entry_event(kind + ADDED_SUFFIX, new_unit.entry))
            continue
        old_entry = old_units[old_by_new[new_index]].entry
        if _entry_fields(old_entry) != _entry_fields(new_unit.entry):
            event = _entry_event(kind + CHANGED_SUFFIX, new_unit.entry)
            events.append(event._replace(previous=old_entry.text if old_entry is not None else ""))
    return events + [
        _entry_event(kind + REMOVED_SUFFIX, old_unit.entry)
        for old_index, old_unit in enumerate(old_units)
        if old_index not in places_by_old
    ]


def _entry_fields(entry: Entry | None) -> tuple[str | None, ...]:
    if entry is None:
        return ()
    return entry.text, entry.rationale, entry.date, entry.author, entry.supersedes, entry.evidence


def _entry_event(kind: str, entry: Entry | None) -> HistoryEvent:
    assert entry is not None
    return HistoryEvent(
        kind,
        entry.text,
        detail=entry.rationale or entry.evidence or "",
        entry_date=entry.date or "",
        entry_author=entry.author or "",
    )


def _compare_sections(old: VersionUnits, new: VersionUnits) -> list[HistoryEvent]:
    """Return the changes of sections, except those of tasks, entries and revision notes."""
    old_parts = [part for part in old.parts if part.unit.kind != NOTES]
    new_parts = [part for part in new.parts if part.unit.kind != NOTES]
    old_by_new = match_sections(old_parts, new_parts)
    events = []
    for new_index, new_part in enumerate(new_parts):
        if new_index in old_by_new:
            event = _compare_parts(old, old_parts[old_by_new[new_index]], new, new_part)
        else:
            event = _part_event(SECTION_ADDED, new_part, lines_added=_count_text_lines(new, new_part))
        events += [event] if event is not None else []
    matched_indexes = set(old_by_new.values())
    removed_parts = [old_part for old_index, old_part in enumerate(old_parts) if old_index not in matched_indexes]
    removals = [
        _part_event(SECTION_REMOVED, old_part, lines_removed=_count_text_lines(old, old_part))
        for old_part in removed_parts
    ]
    return events + [event for event in removals if event is not None]


def match_sections(old_parts: Sequence[PlanPart], new_parts: Sequence[PlanPart]) -> dict[int, int]:
    """Return the indexes of the old parts by those of the new ones."""
    if [part.unit[:2] for part in old_parts] == [part.unit[:2] for part in new_parts]:
        return {index: index for index in range(len(new_parts))}
    places_by_old = match_to_base([part.unit for part in old_parts], [part.unit for part in new_parts])
    return {places[0]: old_index for old_index, places in places_by_old.items()}


def _compare_parts(old: VersionUnits, old_part: PlanPart, new: VersionUnits, new_part: PlanPart) -> HistoryEvent | None:
    """Return the change of a part that both versions have, or None."""
    if old_part is new_part or old_part.lines == new_part.lines:
        return None
    old_lines = old_part.text_lines(has_units=old.has_units(old_part))
    new_lines = new_part.text_lines(has_units=new.has_units(new_part))
    old_details, new_details = changed_task_lines(old.tasks_in(old_part), new.tasks_in(new_part))
    old_lines, new_lines = old_lines + old_details, new_lines + new_details
    if new.has_units(new_part):  # the order of what is between tasks and entries follows theirs
        old_counts, new_counts = Counter(old_lines), Counter(new_lines)
        added, removed = (new_counts - old_counts).total(), (old_counts - new_counts).total()
    else:
        unchanged = len(align_sequences(old_lines, new_lines))
        added, removed = len(new_lines) - unchanged, len(old_lines) - unchanged
    if not added and not removed:
        return None
    event = _part_event(SECTION_CHANGED, new_part, lines_added=added, lines_removed=removed)
    previous = old_part.title if event is not None and old_part.title != event.text else ""
    return event._replace(previous=previous) if event is not None else None


def _part_event(kind: str, part: PlanPart, *, lines_added: int = 0, lines_removed: int = 0) -> HistoryEvent | None:
    """Return the event of a section, or of the text outside sections unless there is none."""
    if not part.is_section and not lines_added and not lines_removed:
        return None
    return HistoryEvent(kind, part.title, lines_added=lines_added, lines_removed=lines_removed)


def _count_text_lines(version: VersionUnits, part: PlanPart) -> int:
    """Return the number of lines of a part without its heading, tasks and entries."""
    return max(len(part.text_lines(has_units=version.has_units(part))) - part.heading_size, 0)
