"""When tasks were added and checked off: according to git, and to the timestamps in plans."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import ids_for_texts, task_ids
from execplan.team.history import history_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.team.history.history_event import HistoryEvent

    _Tasks = dict[tuple[str, str], "TaskTimes"]
    """Tasks by the path of their plan and their ID."""


class TaskTimes(NamedTuple):
    """A task with the times of its changes in git, in seconds since 1970."""

    path: str
    """Path of the plan from the repository root."""
    task_id: str
    added: int
    done: int | None = None
    """When it was checked off for the last time; None if it is open."""
    removed: int | None = None
    """When it was removed or dropped, or its plan was deleted for good; None if it is still there."""


class StampedTask(NamedTuple):
    """A task of a plan as it is now."""

    path: str
    """Path of the plan from the repository root."""
    task_id: str
    is_done: bool
    day: str
    """Day of its timestamp in the form YYYY-MM-DD; empty without a valid one."""


def stamped_tasks(path: str, plan: ParsedPlan) -> list[StampedTask]:
    """Return the tasks of the plan at a path, without dropped ones."""
    return [
        StampedTask(
            path,
            task_id,
            task.state == DONE,
            task.timestamp.date if task.timestamp is not None and task.timestamp.is_valid else "",
        )
        for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True)
        if not task.is_dropped
    ]


def replay_tasks(events: Sequence[HistoryEvent]) -> list[TaskTimes]:
    """Return the tasks that events, given newest first, report; those that were removed too."""
    tasks: _Tasks = {}
    removed_tasks: list[TaskTimes] = []
    tasks_of_deleted_plans: _Tasks = {}
    for event in _oldest_first(events):
        if event.kind == history_event.DELETED:
            for key in _keys_of_plan(tasks, event.path):
                tasks_of_deleted_plans[key] = tasks.pop(key)._replace(removed=event.time)
        elif event.kind == history_event.RESTORED:
            for key in _keys_of_plan(tasks_of_deleted_plans, event.path):
                tasks[key] = tasks_of_deleted_plans.pop(key)._replace(removed=None)
        else:
            _replay_task_event(event, tasks, removed_tasks)
    return [*tasks.values(), *removed_tasks, *tasks_of_deleted_plans.values()]


def _replay_task_event(event: HistoryEvent, tasks: _Tasks, removed_tasks: list[TaskTimes]) -> None:
    """Update the tasks for an event; one that was removed moves to the others."""
    key = event.path, event.task_id
    if event.kind == history_event.TASK_ADDED:
        tasks[key] = TaskTimes(event.path, event.task_id, event.time)
    elif event.kind == history_event.TASK_REWORDED:
        task = _pop_task(tasks, event.path, event.previous)
        if task is not None:
            tasks[key] = task._replace(task_id=event.task_id)
    elif event.kind == history_event.TASK_REMOVED:
        if key in tasks:
            removed_tasks.append(tasks.pop(key)._replace(removed=event.time))
    elif key in tasks and event.kind == history_event.TASK_DONE:
        tasks[key] = tasks[key]._replace(done=event.time, removed=None)
    elif key in tasks and event.kind in (history_event.TASK_REOPENED, history_event.TASK_MARKED):
        tasks[key] = tasks[key]._replace(done=None, removed=event.time if event.detail == "-" else None)


def _keys_of_plan(tasks: _Tasks, path: str) -> list[tuple[str, str]]:
    return [key for key in tasks if key[0] == path]


def _oldest_first(events: Sequence[HistoryEvent]) -> Iterator[HistoryEvent]:
    """Yield events given newest first; those of one change of a plan stay in their order."""
    changes: Iterable[list[HistoryEvent]] = [
        list(change) for _, change in groupby(events, lambda event: (event.commit, event.path))
    ]
    for change in reversed(list(changes)):
        yield from change


def _pop_task(tasks: _Tasks, path: str, text: str) -> TaskTimes | None:
    """Take the task with this text out of the tasks; None if there is none, because a broken version hid it."""
    return tasks.pop((path, ids_for_texts([text])[0]), None)
