"""Tasks of task-master: `.taskmaster/tasks/tasks.json`, with the tasks of one or several tags."""

from __future__ import annotations

from typing import Any

from execplan.exchange.exchange_plan import ExchangePlan, ExchangeTask, ensure_unique_ids
from execplan.exchange.field_values import clean_id, clean_text, one_line, parse_date, read_error
from execplan.exchange.quoted_notes import quote_notes
from execplan.exchange.source_file import SourceFile
from execplan.exchange.status_mapping import StatusReader

TITLE = "Tasks of task-master"
_TEXTS = (("", "description"), ("Details", "details"), ("Tests", "testStrategy"))
_DEFAULT_TAG = "master"


def recognizes(source: SourceFile) -> bool:
    """Return whether the file has tasks of task-master, maybe by tag."""
    return any([_is_task(task) for _, tasks in _tagged_tasks(source.value) for task in tasks[:1]])


def _is_task(task: object) -> bool:
    return isinstance(task, dict) and {"id", "title", "status"} <= task.keys() and "subtasks" in task


def _tagged_tasks(value: object) -> list[tuple[str, list[Any]]]:
    """Return the tasks of each tag; those of a file without tags have an empty one."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("tasks"), list):
        return [("", value["tasks"])]
    return [
        (tag, tagged["tasks"])
        for tag, tagged in value.items()
        if isinstance(tagged, dict) and isinstance(tagged.get("tasks"), list)
    ]


def read(source: SourceFile) -> ExchangePlan:
    """Return tasks and subtasks, those of each tag below a heading; raises ExecplanError."""
    tagged = _tagged_tasks(source.require_value())
    if not tagged:
        raise read_error(source.name, "", "it has no list `tasks`", "import .taskmaster/tasks/tasks.json")
    statuses = StatusReader()
    tasks: list[ExchangeTask] = []
    places: list[str] = []
    for tag, values in tagged:
        prefix = f"{clean_id(tag)}:" if tag not in ("", _DEFAULT_TAG) else ""
        group = one_line(tag) if len(tagged) > 1 else ""
        for number, value in enumerate(values, 1):
            place = f"task {number}" + (f" of {tag}" if tag else "")
            tasks.append(_read_task(source.name, place, value, prefix, "", group, statuses))
            places.append(place)
            parent = tasks[-1].id
            for inner_number, inner in enumerate(_list(value.get("subtasks")), 1):
                inner_place = f"subtask {inner_number} of {place}"
                tasks.append(_read_task(source.name, inner_place, inner, prefix, parent, group, statuses))
                places.append(inner_place)
    ensure_unique_ids(source.name, tasks, places)
    return ExchangePlan(TITLE, tuple(tasks), notes=statuses.notes())


def _read_task(
    name: str, place: str, value: Any, prefix: str, parent: str, group: str, statuses: StatusReader
) -> ExchangeTask:
    task_id = clean_id(value.get("id")) if isinstance(value, dict) else ""
    if not task_id or not isinstance(value.get("title"), str):
        raise read_error(name, place, "a task needs an id and a title", "check the file: task-master list")
    texts = [
        (f"{label}: " if label else "") + text.strip()
        for label, key in _TEXTS
        if isinstance(text := value.get(key), str) and text.strip()
    ]
    needs = [clean_id(need) for need in _list(value.get("dependencies"))]
    return ExchangeTask(
        clean_text(value["title"]),
        statuses.read(str(value.get("status") or "pending")),
        1 if parent else 0,
        f"{parent}.{task_id}" if parent else f"{prefix}{task_id}",
        assignee=one_line(str(value["assignee"])) if value.get("assignee") else "",
        priority=one_line(str(value.get("priority") or "")),
        done_at=parse_date(value.get("completedAt")),
        needs=tuple([_need_id(need, prefix, parent) for need in needs if need]),
        group=group,
        notes=quote_notes("\n\n".join(texts)),
    )


def _need_id(need: str, prefix: str, parent: str) -> str:
    """Return the ID of a dependency: of another subtask, if it is a number in a subtask."""
    return f"{parent}.{need}" if parent and "." not in need else f"{prefix}{need}"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
