"""Edits to a task's text, for the commands reword and split."""

from __future__ import annotations

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.plan.item_format import ItemFormat, wrap_text
from execplan.core.plan.line_grammar import read_any_number, read_checkbox, read_prefix, text_without_timestamp
from execplan.core.plan.model import DONE, ParsedPlan, Task
from execplan.core.plan.plan_change import ChangedTask, PlanChange, PlanContent, plan_content, task_section
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.task_edits import (
    find_tasks,
    format_task,
    has_timestamps,
    neighbor_format,
    next_bullet,
    next_number,
    text_without_box,
    timestamp_example,
    without_prefix,
)
from execplan.core.text.text_lines import Edit
from execplan.core.timestamps import write_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from execplan.core.plan.plan_change import ChangeBuilder


def reword_task(query: str, source: str) -> ChangeBuilder:
    """Build a change that replaces the text of a task; its timestamp, number and reference stay unless the new text has others."""
    new_source = text_without_box(source)
    new_text = _require_task_text(new_source)
    known_ids: list[str] = []

    def build_change(plan: ParsedPlan) -> PlanChange:
        task_section(plan, command="reword")
        task = find_tasks(plan, [query], known_ids)[0]
        content = plan_content(plan)
        index = task.number - 1
        text = features.load(features.KEPT_REFERENCE)(task.text, new_text)
        text = text if read_any_number(text) else read_prefix(task.text) + text
        source = new_source.removesuffix(new_text) + text
        changed_task = ChangedTask(index, task_ids(plan.tasks)[index])
        head, box_text = _split_box_line(plan, task)
        new_lines = _format_task(head, box_text, source, text, neighbor_format(plan, task))
        if task.text == text and (
            source == text or (task.timestamp is not None and source.startswith(task.timestamp.text))
        ):
            return PlanChange((), content, "", (f"unchanged: {format_task(content.tasks, index)}",), (changed_task,))
        edit = Edit(task.box_line, task.end, tuple(new_lines))
        new_content = _replace_task(content, task, (task.mark, text))
        message = f"reworded: {format_task(new_content.tasks, index)}"
        return PlanChange((edit,), new_content, f"reword {task.number}. {text}", (message,), (changed_task,))

    return build_change


def split_task(query: str, done_text: str, open_text: str, now: datetime) -> ChangeBuilder:
    """Build a change that replaces an unfinished task with a done one and an open one, which keeps nested items and reference."""
    given_sources = text_without_box(done_text), text_without_box(open_text)
    given_texts = _require_task_text(given_sources[0]), _require_task_text(given_sources[1])
    known_ids: list[str] = []

    def build_change(plan: ParsedPlan) -> PlanChange:
        task_section(plan, command="split")
        task = find_tasks(plan, [query], known_ids)[0]
        content = plan_content(plan)
        texts = given_texts[0], features.load(features.KEPT_REFERENCE)(task.text, given_texts[1])
        sources = given_sources[0], given_sources[1].removesuffix(given_texts[1]) + texts[1]
        index, task_id = task.number - 1, task_ids(plan.tasks)[task.number - 1]
        present = [(mark, without_prefix(text)) for mark, text in content.tasks[index : index + 2]]
        if present == [("x", without_prefix(texts[0])), (" ", without_prefix(texts[1]))]:
            task_names = [format_task(content.tasks, task_index) for task_index in (index, index + 1)]
            changed_tasks = (ChangedTask(index, task_id), ChangedTask(index + 1, task_ids(plan.tasks)[index + 1]))
            return PlanChange(
                (), content, "", (f"already done: {task_names[0]}", f"already open: {task_names[1]}"), changed_tasks
            )
        if task.state == DONE:
            raise ExecplanError(
                "task-done",
                f"task {task.number} is done: {task.text}",
                hint=f"reopen it first: execplan reopen {task.number}",
            )
        prefix, number = read_prefix(task.text), next_number(plan, task, texts[1])
        marks = prefix.partition(" ")[2] if number else ""
        prefixes = ("" if read_any_number(texts[0]) else prefix, number + marks)
        numbered_sources = [
            source.removesuffix(text) + added + text
            for source, text, added in zip(sources, texts, prefixes, strict=True)
        ]
        new_tasks = (("x", prefixes[0] + texts[0]), (" ", prefixes[1] + texts[1]))
        example = timestamp_example(plan, task)
        stamp = write_timestamp(now, example) + (example.separator or " ") if has_timestamps(plan) else ""
        done_box = f"[x] {stamp}"
        new_lines = format_split_tasks(
            plan, task, done_box, "[ ]" + _split_box_line(plan, task)[1][3:], numbered_sources
        )
        new_content = _replace_task(content, task, *new_tasks)
        messages = (
            f"done: {format_task(new_content.tasks, index)}",
            f"open: {format_task(new_content.tasks, index + 1)}",
        )
        edit = Edit(task.start, task.end, tuple(new_lines))
        changed_tasks = (ChangedTask(index, task_id), ChangedTask(index + 1, task_id))
        return PlanChange((edit,), new_content, f"split {task.number}, {task.text}", messages, changed_tasks)

    return build_change


def format_split_tasks(plan: ParsedPlan, task: Task, done_box: str, open_box: str, texts: Sequence[str]) -> list[str]:
    """Format the two tasks of a split as lines, each with its checkbox, timestamp and text."""
    item_format = neighbor_format(plan, task)
    lines = _format_task(next_bullet(plan, task, 0), done_box, texts[0], text_without_timestamp(texts[0]), item_format)
    lines += [""] if item_format.is_loose else []
    return lines + _format_task(
        next_bullet(plan, task, 1), open_box, texts[1], text_without_timestamp(texts[1]), item_format
    )


def _require_task_text(source: str) -> str:
    """Return a task's text without a leading timestamp; raises ExecplanError if nothing is left."""
    text = text_without_timestamp(source)
    if not text:
        raise ExecplanError(
            "no-words", f"a task needs text, not only a timestamp: {source!r}", hint="describe what to do"
        )
    return text


def _format_task(head: str, box_text: str, source: str, text: str, item_format: ItemFormat) -> list[str]:
    """Format a task as lines; a timestamp at the start of the text replaces the one after the checkbox."""
    return wrap_text(head + (box_text if source == text else f"{box_text[:3]} "), source, item_format)


def _split_box_line(plan: ParsedPlan, task: Task) -> tuple[str, str]:
    """Return the line up to a task's checkbox, and the checkbox with everything before the text."""
    line = plan.text.lines[task.box_line]
    box_index = line.index(f"[{task.mark}]")
    checkbox = read_checkbox(line[box_index:])
    assert checkbox is not None
    box_text = line[box_index : len(line) - len(checkbox.text)]
    return line[:box_index], box_text if box_text.endswith((" ", "\t")) else f"{box_text} "


def _replace_task(content: PlanContent, task: Task, *new_tasks: tuple[str, str]) -> PlanContent:
    """Return the plan content with one task replaced by others."""
    return content._replace(tasks=(*content.tasks[: task.number - 1], *new_tasks, *content.tasks[task.number :]))
