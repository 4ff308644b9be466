"""Edits to tasks, for the commands done, reopen and add."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.item_format import ItemFormat, detect_format, is_loose, wrap_text
from execplan.core.plan.line_grammar import (
    read_any_number,
    read_checkbox,
    read_prefix,
    split_box,
    text_without_timestamp,
)
from execplan.core.plan.model import DONE, OPEN, ParsedPlan, Section, Task, is_struck_through
from execplan.core.plan.plan_change import (
    ChangedTask,
    PlanChange,
    PlanContent,
    append_to_section,
    insert_padded,
    insert_section,
    plan_content,
    task_label,
    task_section,
)
from execplan.core.plan.plan_lookup import (
    find_matches,
    find_task,
    ids_for_texts,
    normalize_text,
    require_single,
    task_ids,
)
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.plan.task_checks import format_check
from execplan.core.text.markdown_blocks import HEADING
from execplan.core.text.text_lines import Edit
from execplan.core.timestamps import DEFAULT_TIMESTAMP, Timestamp, write_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Final

    from execplan.core.plan.plan_change import ChangeBuilder


_OTHER_TITLE: Final = "Tasks"
"""Title of the section for the first task of a plan in another form."""


def complete_tasks(queries: Sequence[str], now: datetime) -> ChangeBuilder:
    """Build a change that marks the matching tasks with an `x` and a timestamp."""
    return _mark_tasks(queries, "x", now)


def reopen_tasks(queries: Sequence[str]) -> ChangeBuilder:
    """Build a change that clears the checkboxes of the matching tasks and removes their timestamps."""
    return _mark_tasks(queries, " ", None)


def _mark_tasks(queries: Sequence[str], mark: str, now: datetime | None) -> ChangeBuilder:
    target_state = DONE if mark == "x" else OPEN
    command = "done" if mark == "x" else "reopen"
    known_ids: list[str] = []

    def build_change(plan: ParsedPlan) -> PlanChange:
        task_section(plan)
        tasks = find_tasks(plan, queries, known_ids)
        edits, messages, marked_tasks = [], [], []
        ids = task_ids(plan.tasks)
        changed_tasks = tuple([ChangedTask(task.number - 1, ids[task.number - 1]) for task in tasks])
        expected_tasks = [(task.mark, task.text) for task in plan.tasks]
        for task in tasks:
            label = task_label(task.number, task.text)
            if task.state == target_state:
                messages.append(f"already {'done' if mark == 'x' else 'open'}: {label}")
                continue
            if mark == " " and is_struck_through(task.text):
                raise ExecplanError(
                    "struck-through",
                    f"task {task.number} can't be reopened, because its text is struck through: {task.text}",
                    hint=f"give it a text that is not: execplan reword {task.number} 'Text'",
                )
            line = mark_line(plan, task, mark, now)
            edits.append(Edit(task.box_line, task.box_line + 1, (line,)))
            expected_tasks[task.number - 1] = (mark, task.text)
            messages.append(f"{'done' if mark == 'x' else 'reopened'}: {label}")
            marked_tasks.append(task)
        if plan.has_tasks_elsewhere and edits:
            from execplan.core.plan.status_edits import phase_edits  # an ExecPlan has no status lines

            for edit, message in phase_edits(plan, expected_tasks):
                edits.append(edit)
                messages.append(message)
        summary = f"{command} {', '.join([str(task.number) for task in marked_tasks])}"
        if len(marked_tasks) == 1:
            summary += f", {marked_tasks[0].text}"
        return PlanChange(
            tuple(edits),
            plan_content(plan)._replace(tasks=tuple(expected_tasks)),
            summary,
            tuple(messages),
            changed_tasks,
        )

    return build_change


def add_task(
    source: str,
    now: datetime,
    *,
    after: str | None = None,
    before: str | None = None,
    under: str | None = None,
    check: str = "",
    create: bool = False,
) -> ChangeBuilder:
    """Build a change that adds an open task: after the last one, next to the given one, or last under a heading.

    `check` is the command of the task's check, or empty.
    """
    known_ids: list[str] = []
    source = text_without_box(source)
    timestamp = source.removesuffix(text_without_timestamp(source))
    neighbor_query = after if after is not None else before

    def build_change(plan: ParsedPlan) -> PlanChange:
        text = source.removeprefix(timestamp)
        section = task_section(plan, create=create, command="add")
        content = plan_content(plan)
        heading = _find_heading(plan, section, under) if under is not None else None
        first_lines = [f"- [ ] {source}", *([f"  - {format_check(check)}"] if check else [])]
        if section is None:
            if neighbor_query is not None:
                find_tasks(plan, [neighbor_query], known_ids)
            title = "" if follows_format(plan) else _OTHER_TITLE  # Progress would make an ExecPlan of the plan
            edit, titles = insert_section(plan, outline.PROGRESS, first_lines, title=title)
            return _task_added(plan, content._replace(sections=titles), edit, text)
        siblings = [
            task
            for task in plan.tasks
            if (heading is None or heading.start < task.start < heading.end)
            and task.box_line not in plan.placeholder_lines
        ]
        for task in siblings:
            if normalize_text(text) in (normalize_text(task.text), normalize_text(without_prefix(task.text))):
                task_id = task_ids(plan.tasks)[task.number - 1]
                message = f"already in the plan, {task.state}: {task_label(task.number, task.text)}  [{task_id}]"
                return PlanChange((), content, "", (message,), (ChangedTask(task.number - 1, task_id),))
        neighbor = find_tasks(plan, [neighbor_query], known_ids)[0] if neighbor_query is not None else None
        if neighbor is None and siblings:
            neighbor = ([task for task in siblings if not task.depth] or siblings)[-1]
        if neighbor is not None:
            text = next_number(plan, neighbor, text) + text
            edit = _insert_beside(plan, neighbor, text, timestamp, now, check, is_above=before is not None)
        elif heading is not None:
            edit = insert_padded(plan.text.lines, heading.end, first_lines)
        else:
            edit = append_to_section(plan, section, first_lines)
        return _task_added(plan, content, edit, text)

    return build_change


def next_number(plan: ParsedPlan, neighbor: Task, text: str) -> str:
    """Return the number for a new task, and a space; empty if the text has one, or a task under the same heading has none."""
    label = read_any_number(neighbor.text)
    labels = [read_any_number(task.text) for task in plan.tasks if task.heading == neighbor.heading]
    if read_any_number(text) or not all(labels):
        return ""
    number = label.rstrip(".)")
    prefix = number.rstrip("0123456789")
    digits = [read_any_number(task.text).rstrip(".)").removeprefix(prefix) for task in plan.tasks]
    last = max([int(name) for name in digits if name.isdecimal()])
    return f"{prefix}{last + 1:0{len(number) - len(prefix)}}{label.removeprefix(number)} "


def without_prefix(text: str) -> str:
    """Return a task's text without its number and the marks after it."""
    return text.removeprefix(read_prefix(text))


def text_without_box(source: str) -> str:
    """Return a task's text without an open checkbox at its start; raises ExecplanError for any other checkbox."""
    mark, text = split_box(source)
    if mark.strip():
        raise ExecplanError(
            "usage",
            f"a task's text can't begin with a checkbox marked {mark!r}: {source!r}",
            hint=f"give the text alone, {text!r}, and check off a task with: execplan done TASK",
        )
    return text


def _task_added(plan: ParsedPlan, content: PlanContent, edit: Edit, text: str) -> PlanChange:
    index = sum([task.start < edit.start for task in plan.tasks])
    replaced = sum([edit.start <= task.start < edit.end for task in plan.tasks])  # the template's
    tasks = (*content.tasks[:index], (" ", text), *content.tasks[index + replaced :])
    message = f"added: {format_task(tasks, index)}"
    return PlanChange(
        (edit,), content._replace(tasks=tasks), f"add {index + 1}, {text}", (message,), (ChangedTask(index, None),)
    )


def format_task(tasks: Sequence[tuple[str, str]], index: int) -> str:
    """Format a task of a plan's content with its number and ID: `3. Write the tests  [t6a76z2]`."""
    texts = [text for _, text in tasks]
    return f"{task_label(index + 1, texts[index])}  [{ids_for_texts(texts)[index]}]"


def find_tasks(plan: ParsedPlan, queries: Sequence[str], known_ids: list[str]) -> list[Task]:
    """Return the tasks that match the queries, each once; on a retry, the tasks with the IDs from the first call."""
    if not known_ids:
        matches = [find_task(plan, query) for query in queries]
        known_ids += dict(matches)
    ids = task_ids(plan.tasks)
    for task_id in known_ids:
        if task_id not in ids:
            raise ExecplanError(
                "task-gone",
                f"task {task_id} is no longer in the plan: it changed during the edit",
                hint="check again: execplan show",
            )
    return [plan.tasks[ids.index(task_id)] for task_id in known_ids]


def mark_line(plan: ParsedPlan, task: Task, mark: str, now: datetime | None) -> str:
    """Return the line of a task's checkbox with another character, and with a new timestamp or none; or of its status."""
    if task.status is not None:
        from execplan.core.plan.status_edits import write_status  # most tasks have a checkbox

        return write_status(plan, task, mark)
    line = plan.text.lines[task.box_line]
    example = timestamp_example(plan, task)
    timestamp = write_timestamp(now, example) if now and has_timestamps(plan) else ""
    separator = example.separator or " "
    box_index = line.index(f"[{task.mark}]")
    checkbox = read_checkbox(line[box_index:])
    assert checkbox is not None
    line_start = f"{line[:box_index]}[{mark}]"
    if not timestamp:
        if checkbox.timestamp is not None and not checkbox.text:
            return line_start + checkbox.leading_space[:-1] + checkbox.timestamp.separator
        return (
            line_start
            + checkbox.leading_space
            + (checkbox.text if checkbox.timestamp is not None else checkbox.placeholder + checkbox.text)
        )
    is_same_style = checkbox.timestamp is not None and checkbox.timestamp.is_bare == (
        not timestamp.startswith("(")
    )  # otherwise its colon does not fit
    if checkbox.timestamp is not None and is_same_style and (checkbox.text or checkbox.timestamp.separator):
        separator = checkbox.timestamp.separator
    elif not checkbox.text:
        separator = checkbox.leading_space
    return line_start + (checkbox.leading_space or " ") + timestamp + separator + checkbox.text


def has_timestamps(plan: ParsedPlan) -> bool:
    """Return whether a done task gets a timestamp: always in Progress, elsewhere if another task has one."""
    return not plan.has_tasks_elsewhere or any([task.timestamp is not None for task in plan.tasks])


def timestamp_example(plan: ParsedPlan, task: Task) -> Timestamp:
    """Return the timestamp whose format a task copies.

    It is that of the nearest done task, the one above first, or else its own, or else the default.
    """
    stamped_tasks = [other for other in plan.tasks if other.timestamp is not None and other.timestamp.is_valid]
    nearest_tasks = sorted(stamped_tasks, key=lambda other: (abs(other.number - task.number), other.number))
    for other in [other for other in nearest_tasks if other.state == DONE] + [
        other for other in nearest_tasks if other is task
    ]:
        if other.timestamp is not None and not (other.timestamp.is_bare and task.text[:1] in ":：-–—,"):
            return other.timestamp
    return DEFAULT_TIMESTAMP


def _insert_beside(
    plan: ParsedPlan, neighbor: Task, text: str, timestamp: str, now: datetime, check: str, *, is_above: bool
) -> Edit:
    """Return an edit that inserts an open task before or after another, in the same format."""
    if not timestamp and neighbor.state == OPEN and neighbor.timestamp is not None:
        timestamp = write_timestamp(now, neighbor.timestamp) + (neighbor.timestamp.separator or " ")
    item_format = neighbor_format(plan, neighbor)
    new_lines = wrap_text(next_bullet(plan, neighbor, 0 if is_above else 1) + f"[ ] {timestamp}", text, item_format)
    if check:
        bullet = neighbor.item_block.mark if neighbor.item_block.mark in ("-", "*", "+") else "-"
        new_lines.append(f"{inner_indent(plan, neighbor)}{bullet} {format_check(check)}")
    if is_above:
        return Edit(neighbor.start, neighbor.start, (*new_lines, "") if item_format.is_loose else tuple(new_lines))
    return Edit(neighbor.item_end, neighbor.item_end, ("", *new_lines) if item_format.is_loose else tuple(new_lines))


def neighbor_format(plan: ParsedPlan, neighbor: Task) -> ItemFormat:
    """Return the format for an item next to a task, copied from the tasks at its depth."""
    lines = plan.text.lines
    siblings = [task for task in plan.tasks if task.depth == neighbor.depth]
    spans = [(task.box_line, task.end) for task in siblings]
    item_format = detect_format(lines, spans, indent=inner_indent(plan, neighbor), is_loose_default=False)
    return item_format._replace(is_loose=is_loose(lines, [(task.start, task.item_end) for task in siblings]))


def next_bullet(plan: ParsedPlan, task: Task, offset: int) -> str:
    """Return the start of an item `offset` items after a task: indentation, bullet or number, and space."""
    block = task.item_block
    bullet = block.mark
    if bullet[:-1].isdigit():
        bullet = f"{int(bullet[:-1]) + offset}{bullet[-1]}"
    return _item_indent(plan, task) + bullet + (" " * (block.content_column - block.column - len(block.mark)) or " ")


def inner_indent(plan: ParsedPlan, task: Task) -> str:
    """Return the indentation of lines inside a task."""
    return _item_indent(plan, task) + " " * (task.item_block.content_column - task.item_block.column)


def _item_indent(plan: ParsedPlan, task: Task) -> str:
    first_line = plan.text.lines[task.start]
    indent = first_line[: len(first_line) - len(first_line.lstrip(" \t"))]
    return indent if len(indent.expandtabs(4)) == task.item_block.column else " " * task.item_block.column


class _HeadingSpan(NamedTuple):
    """The line of a sub-heading of Progress, and one past the last line below it."""

    start: int
    end: int


def _find_heading(plan: ParsedPlan, section: Section | None, query: str) -> _HeadingSpan:
    """Return the sub-heading for a unique part of its text; raises ExecplanError."""
    section_blocks = plan.blocks[section.first_block : section.block_end] if section is not None else []
    headings = [block for block in section_blocks if block.kind == HEADING and not block.depth]
    candidates = [f"line {heading.start + 1}: {'#' * heading.level} {heading.text}" for heading in headings]
    hint = "use more of the heading's text"
    match = require_single(
        find_matches([heading.text for heading in headings], query), candidates, query, "heading", hint
    )
    if section is None or match is None:
        message = f"no heading in {section.title if section else outline.PROGRESS} contains {query!r}"
        hint = "use a part of one of these" if candidates else "omit --under: there are no headings to choose from"
        raise ExecplanError("no-such-heading", message, hint=hint, candidates=candidates)
    heading = headings[match]
    later_starts = [
        later_heading.start for later_heading in headings[match + 1 :] if later_heading.level <= heading.level
    ]
    return _HeadingSpan(heading.start, min([*later_starts, section.content_end]))
