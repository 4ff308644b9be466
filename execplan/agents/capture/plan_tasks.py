"""The tasks of a native plan: to-dos, checkboxes, numbered headings or lists, whichever it has."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from execplan.agents.capture.plan_parts import TASKS, HeadingPart, is_numbered, list_items, without_number
from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_empty_text, text_without_timestamp
from execplan.core.plan.model import is_unfinished

MAX_LENGTH = 160
"""Length in characters from which a task is shortened; its whole text is in Plan of Work."""
LAST_TASK = "Write what came of this plan into Outcomes & Retrospective"
"""Task that a plan gets when all of its own are done: a plan without open tasks would be complete."""
_MAX_LABEL_WORDS = 2
"""Maximum number of words of a heading that says the same as Progress."""
_SENTENCE_ENDS = (". ", "! ", "? ", "。", "; ", ": ", " – ", " — ")


class NativeTask(NamedTuple):
    """A task of a native plan."""

    text: str
    mark: str = " "
    depth: int = 0
    group: str = ""
    """Heading above it."""


PlacedPart = tuple[HeadingPart, str]
"""A part with its section."""


def find_tasks(parts: Sequence[PlacedPart], *, only_checkboxes: bool = False) -> list[NativeTask]:
    """Return the tasks: the checkboxes; else numbered headings, numbered lists, sub-headings or lists of the work."""
    work = [part for part, section in parts if section == outline.WORK]
    headings = _numbered_parts(work)
    checkboxes = [(part, part_tasks(part)) for part, section in parts if section != outline.VALIDATION]
    tasks = [task for _, part_checkboxes in checkboxes for task in part_checkboxes]
    if only_checkboxes:
        return [task._replace(group="") for task in tasks]
    if tasks and not {id(heading) for heading in headings} <= {id(part) for part, boxes in checkboxes if boxes}:
        return _nested_tasks(checkboxes, headings)
    if len({task.group for task in tasks}) < 2:
        tasks = [task._replace(group="") for task in tasks]
    return (
        tasks
        or [NativeTask(without_number(part.heading)) for part in headings]
        or _item_tasks(work)
        or _list_tasks(work)
    )


def _numbered_parts(work: Sequence[HeadingPart]) -> list[HeadingPart]:
    """Return the parts of the highest level that has two or more numbered headings."""
    numbered = [part for part in work if part.heading and is_numbered(part.heading)]
    for level in sorted({part.level for part in numbered}):
        parts = [part for part in numbered if part.level == level]
        if len(parts) > 1:
            return parts
    return []


def _nested_tasks(
    checkboxes: Sequence[tuple[HeadingPart, list[NativeTask]]], headings: Sequence[HeadingPart]
) -> list[NativeTask]:
    """Return a task for each numbered heading, with the checkboxes below it as its sub-tasks."""
    tasks: list[NativeTask] = []
    heading_ids = {id(heading) for heading in headings}
    depth = 0
    for part, part_checkboxes in checkboxes:
        if id(part) in heading_ids:
            tasks.append(NativeTask(without_number(part.heading)))
            depth = 1
        elif part.heading and headings and part.level <= headings[0].level:
            depth = 0
        tasks += [task._replace(depth=task.depth + depth, group="") for task in part_checkboxes]
    return tasks


def part_tasks(part: HeadingPart) -> list[NativeTask]:
    """Return the items of a part that have checkboxes."""
    depths: list[int] = []
    tasks = []
    for item in list_items(part):
        if item.mark and not is_empty_text(item.text):
            while depths and depths[-1] >= item.depth:
                depths.pop()
            tasks.append(NativeTask(item.text, item.mark, len(depths), part.heading))
            depths.append(item.depth)
    return tasks


def is_in_progress(part: HeadingPart, groups: Container[str]) -> bool:
    """Return whether Progress has all of a part: its lines are items with checkboxes and short text.

    `groups` are the headings in Progress.
    """
    items = list_items(part)
    is_task_list = part.label == TASKS and len(part.heading.split()) <= _MAX_LABEL_WORDS
    if not items or not (not part.heading or is_task_list or part.heading in groups):
        return False
    line_count = sum([bool(line.strip()) for line in part.lines])
    return sum([item.text_end - item.start for item in items]) == line_count and all(
        [item.mark and item.text == shorten(item.text) and not is_empty_text(item.text) for item in items]
    )


def _item_tasks(work: Sequence[HeadingPart]) -> list[NativeTask]:
    """Return the items of numbered lists."""
    items = [item for part in work for item in list_items(part)]
    ordered = [item for item in items if item.is_ordered and not item.depth and not is_empty_text(item.text)]
    return [NativeTask(item.text) for item in ordered] if len(ordered) > 1 else []


def _list_tasks(work: Sequence[HeadingPart]) -> list[NativeTask]:
    """Return the sub-headings of the work; else the items of its lists."""
    top_level = min([part.level for part in work if part.heading], default=0)
    headings = [part.heading for part in work if part.heading and part.level > top_level]
    if len(headings) > 1:
        return [NativeTask(heading) for heading in headings]
    labeled = [part for part in work if part.label in (TASKS, outline.WORK)]
    items = [item for part in labeled or work for item in list_items(part)]
    texts = [item.text for item in items if not item.depth and not is_empty_text(item.text)]
    return [NativeTask(text) for text in texts] if len(texts) > 1 else []


def format_tasks(tasks: Sequence[NativeTask]) -> list[str]:
    """Return the lines of Progress for tasks: each once, with its heading where there are several."""
    lines: list[str] = []
    group, used_texts = "", set()
    for task in tasks:
        text = task_line_text(task.text)
        if not text or (text, task.group) in used_texts:
            continue
        used_texts.add((text, task.group))
        if task.group != group:
            lines += [*([""] if lines else []), f"### {task.group}", ""]
            group = task.group
        lines.append(f"{'  ' * task.depth}- [{task.mark}] {text}")
    if lines and not any([is_unfinished(task.mark, task.text) for task in tasks]):
        lines += [*(["", f"### {outline.OUTCOMES}", ""] if group else []), f"- [ ] {LAST_TASK}"]
    return lines


def task_line_text(text: str) -> str:
    """Return the text for a task's line, in which no timestamp is read."""
    text = shorten(" ".join(text.split()))
    return text if text_without_timestamp(text) == text else f"On {text}"


def shorten(text: str) -> str:
    """Shorten a long text at the end of a sentence, or else of a word."""
    if len(text) <= MAX_LENGTH:
        return text
    ends = [at + len(mark.rstrip()) for mark in _SENTENCE_ENDS if (at := text.find(mark, 20, MAX_LENGTH)) > 0]
    if ends and text[: min(ends)].count("`") % 2 == 0:
        return text[: min(ends)].rstrip(":;–— ")
    return text[:MAX_LENGTH].rpartition(" ")[0].rstrip() + " …" if " " in text[:MAX_LENGTH] else text[:MAX_LENGTH] + "…"
