"""Comparison of the tasks of two versions of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from execplan.core.plan.merge.merge_units import MergeUnit
from execplan.core.plan.merge.unit_matching import match_to_base, split_words
from execplan.core.plan.model import DONE, OPEN, Task
from execplan.core.text.sequence_alignment import align_sequences
from execplan.team.history.history_event import (
    TASK_ADDED,
    TASK_DONE,
    TASK_MARKED,
    TASK_MOVED,
    TASK_REMOVED,
    TASK_REOPENED,
    TASK_REWORDED,
    HistoryEvent,
)


class TaskVersion(NamedTuple):
    """A task in one version of a plan."""

    unit: MergeUnit
    task: Task
    id: str


def compare_tasks(old_tasks: Sequence[TaskVersion], new_tasks: Sequence[TaskVersion]) -> list[HistoryEvent]:
    """Return what happened to the tasks, in the order of the new version; removed tasks come last."""
    places_by_old = match_tasks(old_tasks, new_tasks)
    old_by_new = {places[0]: old_index for old_index, places in places_by_old.items()}
    moved = _moved_tasks(old_tasks, new_tasks, old_by_new)
    events = []
    for new_index, new_task in enumerate(new_tasks):
        old_task = old_tasks[old_by_new[new_index]] if new_index in old_by_new else None
        events += _task_events(old_task, new_task)
        if new_index in moved:
            events.append(HistoryEvent(TASK_MOVED, new_task.task.text, new_task.id))
    return events + [
        HistoryEvent(TASK_REMOVED, old_task.task.text, old_task.id)
        for old_index, old_task in enumerate(old_tasks)
        if old_index not in places_by_old
    ]


def changed_task_lines(
    old_tasks: Sequence[TaskVersion], new_tasks: Sequence[TaskVersion]
) -> tuple[list[str], list[str]]:
    """Return the lines below the texts of tasks that both versions have, and timestamps that changed on their own."""
    old_lines: list[str] = []
    new_lines: list[str] = []
    for old_index, places in match_tasks(old_tasks, new_tasks).items():
        old_task, new_task = old_tasks[old_index], new_tasks[places[0]]
        if len(places) == 1 and old_task.unit.lines == new_task.unit.lines:
            continue
        old_lines += _detail_lines(old_task)
        for place in places:
            new_lines += _detail_lines(new_tasks[place])
        timestamps = old_task.task.timestamp, new_task.task.timestamp
        if old_task.task.mark == new_task.task.mark and timestamps[0] != timestamps[1]:
            old_lines += [timestamps[0].text] if timestamps[0] is not None else []
            new_lines += [timestamps[1].text] if timestamps[1] is not None else []
    return old_lines, new_lines


def _detail_lines(version: TaskVersion) -> list[str]:
    lines = version.unit.lines[version.task.end - version.task.start :]
    return [line.rstrip() for line in lines if line.strip()]


def match_tasks(old_tasks: Sequence[TaskVersion], new_tasks: Sequence[TaskVersion]) -> dict[int, tuple[int, ...]]:
    """Return the indexes in the new version for each task that it still has; a split task has two.

    Tasks without a common word at the same place count as one reworded task only if there is just one such pair.
    """
    if [version.task.text for version in old_tasks] == [version.task.text for version in new_tasks]:
        return {index: (index,) for index in range(len(old_tasks))}
    places_by_old = match_to_base([version.unit for version in old_tasks], [version.unit for version in new_tasks])
    unlike = [
        old_index
        for old_index, places in places_by_old.items()
        if len(places) == 1 and not _has_common_word(old_tasks[old_index].task.text, new_tasks[places[0]].task.text)
    ]
    return {
        old_index: places for old_index, places in places_by_old.items() if len(unlike) == 1 or old_index not in unlike
    }


def _has_common_word(old_text: str, new_text: str) -> bool:
    return old_text == new_text or not {*split_words(old_text)}.isdisjoint(split_words(new_text))


def _task_events(old_task: TaskVersion | None, new_task: TaskVersion) -> list[HistoryEvent]:
    """Return what happened to a task of the new version, apart from a move."""
    task, events = new_task.task, []
    if old_task is None:
        events.append(HistoryEvent(TASK_ADDED, task.text, new_task.id))
    elif old_task.task.text != task.text:
        events.append(HistoryEvent(TASK_REWORDED, task.text, new_task.id, previous=old_task.task.text))
    old_label = old_task.task.state_label if old_task is not None else OPEN
    if old_label == task.state_label:
        return events
    if task.state == DONE:
        events.append(HistoryEvent(TASK_DONE, task.text, new_task.id))
    elif task.state == OPEN:
        events.append(HistoryEvent(TASK_REOPENED, task.text, new_task.id))
    else:
        events.append(HistoryEvent(TASK_MARKED, task.text, new_task.id, detail="-" if task.is_dropped else task.mark))
    return events


def _moved_tasks(
    old_tasks: Sequence[TaskVersion], new_tasks: Sequence[TaskVersion], old_by_new: dict[int, int]
) -> set[int]:
    """Return the new indexes of tasks that changed their place among the others, their sub-heading or their depth."""
    old_order = sorted(old_by_new.values())
    new_order = [old_by_new[new_index] for new_index in sorted(old_by_new)]
    new_by_old = {old_index: new_index for new_index, old_index in old_by_new.items()}
    in_order = {new_order[position] for _, position in align_sequences(old_order, new_order)}
    moved = {new_by_old[old_index] for old_index in new_order if old_index not in in_order}
    old_headings, new_headings = ({version.task.heading for version in versions} for versions in (old_tasks, new_tasks))
    for new_index, old_index in old_by_new.items():
        old_task, new_task = old_tasks[old_index].task, new_tasks[new_index].task
        has_both = old_task.heading in new_headings and new_task.heading in old_headings
        if old_task.depth != new_task.depth or (old_task.heading != new_task.heading and has_both):
            moved.add(new_index)
    return moved
