"""The shape between plans and the files of other programs: a title, sections, and tasks with what trackers know about them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from execplan.exchange.field_values import clean_detail, clean_text, read_error
from execplan.exchange.task_reference import TaskReference, format_reference, split_reference

OPEN: Final = "open"
BEGUN: Final = "begun"
DONE: Final = "done"
DROPPED: Final = "dropped"
MARKS: Final = {OPEN: " ", BEGUN: "~", DONE: "x", DROPPED: "-"}
"""The character in the checkbox of a task, by its state."""
_BOX = re.compile(r"^([ \t]*(?:[-*+]|\d+[.)])[ \t]+)\[([ xX])\](?=[ \t])", re.MULTILINE)
_STRIKE = re.compile(r"~~(?P<begins>(?=\S))?")
"""A mark that begins or ends struck text: it begins some if no space follows."""
MAX_DEPTH: Final = 9
"""Greatest depth of a task that is read: deeper ones become siblings."""
_LABELS = ("assignee", "priority", "due", "labels", "needs")
DETAILS = "Details: "


class ExchangeTask(NamedTuple):
    """A task of a plan or a tracker; its children follow it with a greater depth."""

    text: str
    """One line of markdown, without reference."""
    state: str = OPEN
    depth: int = 0
    id: str = ""
    """ID in the other program; may be empty."""
    link: str = ""
    done_at: str = ""
    """Date, or date and time in UTC as in `2026-01-01 00:00Z`; empty if it isn't known."""
    assignee: str = ""
    priority: str = ""
    due: str = ""
    labels: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """IDs of the tasks that come first."""
    group: str = ""
    """Sub-heading above the task."""
    notes: str = ""
    """Markdown below the task."""

    @property
    def full_text(self) -> str:
        """The text with the reference, as it is in a plan."""
        return self.text + format_reference(self.id, self.link)


class ExchangeSection(NamedTuple):
    """A section of a plan; the text above the first one has an empty title."""

    title: str
    text: str
    """Markdown without the tasks."""


class ExchangePlan(NamedTuple):
    """A plan, or the tasks of a project in another program."""

    title: str
    tasks: tuple[ExchangeTask, ...]
    sections: tuple[ExchangeSection, ...] = ()
    purpose: str = ""
    """Markdown that says what the work is for."""
    id: str = ""
    owner: str = ""
    created: str = ""
    tags: tuple[str, ...] = ()
    link: str = ""
    notes: tuple[str, ...] = ()
    """What was not read as it is in the file, in sentences for people."""


class ExportedFiles(NamedTuple):
    """The files of an export."""

    files: Mapping[str, bytes]
    """Contents by path; the path of a single file is empty."""
    losses: tuple[str, ...] = ()
    """What the form can't hold, or what became something else, in sentences for people."""


def nest_tasks(tasks: Sequence[ExchangeTask], parents: Mapping[str, str]) -> tuple[list[ExchangeTask], list[str]]:
    """Return tasks with each below its parent, in the order of the file, and the IDs of those in a circle of parents.

    `parents` has the ID of a task's parent by its own ID. A task whose parent isn't there, or in a circle, is at the top.
    """
    ids = {task.id for task in tasks if task.id}
    circular = [task.id for task in tasks if task.id and _is_circular(task.id, parents)]
    children: dict[str, list[ExchangeTask]] = {}
    for task in tasks:
        parent = parents.get(task.id, "") if task.id not in circular else ""
        children.setdefault(parent if parent in ids else "", []).append(task)
    nested: list[ExchangeTask] = []
    pending = [(task, 0) for task in reversed(children.get("", []))]
    while pending:
        task, depth = pending.pop()
        nested.append(task._replace(depth=depth))
        below = children.get(task.id, []) if task.id else []
        pending += [(child, depth + 1) for child in reversed(below)]
    return nested, circular


def _is_circular(name: str, parents: Mapping[str, str]) -> bool:
    visited: set[str] = set()
    current = name
    while current in parents and current not in visited:
        visited.add(current)
        current = parents[current]
    return current == name and bool(visited)


def ensure_unique_ids(name: str, tasks: Sequence[ExchangeTask], places: Sequence[str]) -> None:
    """Raise ExecplanError if two tasks have the same ID; `places` says where each is, such as `row 7`."""
    first_places: dict[str, str] = {}
    for task, place in zip(tasks, places, strict=True):
        if task.id in first_places:
            problem = (
                f"the ID {task.id} is already in {first_places[task.id]}, so a later import could not tell them apart"
            )
            raise read_error(name, place, problem, "give one of the two another ID, or remove it, and try again")
        if task.id:
            first_places[task.id] = place


def format_details(task: ExchangeTask) -> str:
    """Return what trackers know about a task as one line; empty if there is nothing."""
    values = (task.assignee, task.priority, task.due, ", ".join(task.labels), ", ".join(task.needs))
    parts = [f"{label} {clean_detail(value)}" for label, value in zip(_LABELS, values, strict=True) if value]
    return DETAILS + "; ".join(parts) if parts else ""


def parse_details(line: str) -> dict[str, str]:
    """Return the values in a line of details by their labels; empty for any other line."""
    if not line.startswith(DETAILS):
        return {}
    pairs = [part.partition(" ") for part in line.removeprefix(DETAILS).split("; ")]
    values = {label: value for label, _, value in pairs if label in _LABELS and value}
    return values if len(values) == len(pairs) else {}


def task_lines(task: ExchangeTask, indent: str = "") -> list[str]:
    """Return a task as lines of markdown, with its details and notes below it."""
    return [f"{indent}- {box_text(task)}{task.full_text}", *lines_below(task, f"{indent}  ")]


def box_text(task: ExchangeTask) -> str:
    """Return the checkbox of a task, and when it was done, with a space after them."""
    timestamp = f"({task.done_at}) " if task.state == DONE and task.done_at else ""
    return f"[{MARKS[task.state]}] {timestamp}"


def lines_below(task: ExchangeTask, indent: str) -> list[str]:
    """Return the details and the notes of a task as lines."""
    details = format_details(task)
    lines = [f"{indent}- {details}"] if details else []
    return lines + [f"{indent}{line}".rstrip() for line in task.notes.split("\n") if task.notes]


def list_lines(tasks: Sequence[ExchangeTask], *, with_groups: bool = True) -> list[str]:
    """Return tasks as a nested list, with a heading of level 3 above each group."""
    lines: list[str] = []
    group = ""
    for task in tasks:
        if with_groups and task.group != group and not task.depth and task.group:
            lines += [*([""] if lines else []), f"### {task.group}", ""]
        group = task.group if not task.depth else group
        lines += task_lines(task, "  " * task.depth)
    return lines


def to_box(task: ExchangeTask) -> ExchangeTask:
    """Return a task for a form whose boxes are only open or done: a dropped one is done, and its text struck through."""
    if task.state == DROPPED:
        return task._replace(state=DONE, text=f"~~{task.text}~~")
    return task._replace(state=DONE if task.state == DONE else OPEN)


def from_box(task: ExchangeTask) -> ExchangeTask:
    """Return a task as `to_box` got it."""
    is_dropped = task.state == DONE and _is_struck_as_a_whole(task.text)
    return task._replace(state=DROPPED, text=task.text[2:-2]) if is_dropped else task


def _is_struck_as_a_whole(text: str) -> bool:
    """Return whether a text is one that is struck through, rather than several: `~~a ~~b~~ c~~`, but not `~~a~~ ~~c~~`."""
    if not (text.startswith("~~") and text.endswith("~~") and len(text) > len("~~~~")):
        return False
    depth = 1
    for mark in _STRIKE.finditer(text[2:-2]):
        depth += -1 if mark["begins"] is None else 1
        if not depth:
            return False
    return True


def normalize_tasks(tasks: Sequence[ExchangeTask]) -> tuple[ExchangeTask, ...]:
    """Return the tasks of any file as a plan can have them, so that they are the same after they were written and read."""
    normal: list[ExchangeTask] = []
    for task in tasks:
        depth = min(task.depth, normal[-1].depth + 1 if normal else 0, MAX_DEPTH)
        text = clean_text(task.text)
        own = TaskReference(text, task.id, task.link) if task.id else split_reference(text)
        normal.append(
            task._replace(
                text=own.text,
                id=own.id,
                link=own.link,
                depth=depth,
                assignee=clean_detail(task.assignee),
                priority=clean_detail(task.priority),
                due=clean_detail(task.due),
                labels=tuple(map(_clean_item, task.labels)),
                needs=tuple(map(_clean_item, task.needs)),
                group=clean_text(task.group) if task.group.strip() and not depth else "",
            )
        )
    return tuple(normal)


def _clean_item(text: str) -> str:
    return clean_detail(text.replace(",", " "))


def task_keys(rows: Sequence[tuple[int, str, str]]) -> list[str]:
    """Return what each task is recognized by, given its depth, ID and text: its ID, or else its text.

    A text counts within the task that contains it, and the second task with the same text is another one.
    """
    keys: list[str] = []
    above: list[str] = []
    counts: dict[str, int] = {}
    for depth, name, text in rows:
        del above[depth:]
        parent = above[-1] if above else ""
        key = f"id {name}" if name else f"{parent}/{' '.join(text.casefold().split())}"
        counts[key] = counts.get(key, 0) + 1
        key = key if counts[key] == 1 else f"{key} {counts[key]}"
        keys.append(key)
        above.append(key)
    return keys


def keyed_tasks(tasks: Sequence[ExchangeTask]) -> dict[str, ExchangeTask]:
    """Return tasks by what they are recognized by."""
    keys = task_keys([(task.depth, task.id, task.text) for task in tasks])
    return dict(zip(keys, tasks, strict=True))


def without_boxes(text: str) -> str:
    """Return text whose boxes are not tasks, as signs."""
    return _BOX.sub(lambda match: match[1] + ("☐" if match[2] == " " else "☑"), text)
