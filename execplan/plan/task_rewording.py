"""The changes of a task's words: reword, split."""

from __future__ import annotations

from execplan.clock import write_timestamp
from execplan.errors import INPUT, USAGE, ExecplanError
from execplan.plan import outline
from execplan.plan.item_format import ItemFormat, wrap_text
from execplan.plan.line_grammar import read_checkbox, text_without_timestamp
from execplan.plan.model import DONE, ParsedPlan, Task
from execplan.plan.plan_change import ChangedTask, PlanChange, PlanContent, plan_content, target_section
from execplan.plan.plan_lookup import task_ids
from execplan.plan.task_edits import find_tasks, format_task, neighbor_format, next_bullet, timestamp_example
from execplan.text.line_edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from execplan.plan.plan_change import ChangeBuilder


def reword_task(query: str, source: str) -> ChangeBuilder:
    """Put other words behind the box of the task that the query names, and behind its stamp unless they bring one."""
    text = _require_task_text(source)
    known_ids: list[str] = []

    def build_change(plan: ParsedPlan) -> PlanChange:
        target_section(plan, outline.PROGRESS, added_by="execplan add 'First step' --create")
        task = find_tasks(plan, [query], known_ids)[0]
        content = plan_content(plan)
        index = task.number - 1
        changed_task = ChangedTask(index, task_ids(plan.tasks)[index])
        task_label = f"{task.number}. {text}"
        head, box_text = _split_box_line(plan, task)
        new_lines = _format_task(head, box_text, source, text, neighbor_format(plan, task))
        if task.text == text and (
            source == text or (task.timestamp is not None and source.startswith(task.timestamp.text))
        ):
            return PlanChange((), content, "", (f"unchanged: {format_task(content.tasks, index)}",), (changed_task,))
        edit = Edit(task.box_line, task.end, tuple(new_lines))
        new_content = _replace_task(content, task, (task.mark, text))
        return PlanChange(
            (edit,),
            new_content,
            f"reword {task_label}",
            (f"reworded: {format_task(new_content.tasks, index)}",),
            (changed_task,),
        )

    return build_change


def split_task(query: str, done_text: str, open_text: str, now: datetime) -> ChangeBuilder:
    """Put a ticked task and an open one in the place of a half-done one; what is nested in it stays with the open one."""
    texts = (_require_task_text(done_text), _require_task_text(open_text))
    known_ids: list[str] = []

    def build_change(plan: ParsedPlan) -> PlanChange:
        target_section(plan, outline.PROGRESS, added_by="execplan add 'First step' --create")
        task = find_tasks(plan, [query], known_ids)[0]
        content = plan_content(plan)
        new_tasks = (("x", texts[0]), (" ", texts[1]))
        index, task_id = task.number - 1, task_ids(plan.tasks)[task.number - 1]
        if content.tasks[index : index + 2] == new_tasks:
            task_names = [format_task(content.tasks, task_index) for task_index in (index, index + 1)]
            changed_tasks = (ChangedTask(index, task_id), ChangedTask(index + 1, task_ids(plan.tasks)[index + 1]))
            return PlanChange(
                (), content, "", (f"done already: {task_names[0]}", f"open already: {task_names[1]}"), changed_tasks
            )
        if task.state == DONE:
            raise ExecplanError(
                "task-done",
                f"task {task.number} is done: {task.text}",
                exit=INPUT,
                hint=f"reopen it first: execplan reopen {task.number}",
            )
        timestamp = timestamp_example(plan, task)
        done_box = f"[x] {write_timestamp(now, timestamp)}{timestamp.separator or ' '}"
        new_lines = format_split_tasks(
            plan, task, done_box, "[ ]" + _split_box_line(plan, task)[1][3:], (done_text, open_text)
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


def format_split_tasks(plan: ParsedPlan, task: Task, done_box: str, open_box: str, texts: tuple[str, str]) -> list[str]:
    """The lines of the two tasks in the place of one: the box of each with its stamp, and what each says."""
    item_format = neighbor_format(plan, task)
    lines = _format_task(next_bullet(plan, task, 0), done_box, texts[0], text_without_timestamp(texts[0]), item_format)
    lines += [""] if item_format.is_loose else []
    return lines + _format_task(
        next_bullet(plan, task, 1), open_box, texts[1], text_without_timestamp(texts[1]), item_format
    )


def _require_task_text(source: str) -> str:
    """The words of a task without a stamp that they begin with; raises ExecplanError when there are no others."""
    text = text_without_timestamp(source)
    if not text:
        raise ExecplanError(
            "no-words", f"a task needs words, not only a stamp: {source!r}", exit=USAGE, hint="say what is to be done"
        )
    return text


def _format_task(head: str, box_text: str, source: str, text: str, item_format: ItemFormat) -> list[str]:
    """The lines of a task; a stamp that the words begin with stands in the place of the one behind the box."""
    return wrap_text(head + (box_text if source == text else f"{box_text[:3]} "), source, item_format)


def _split_box_line(plan: ParsedPlan, task: Task) -> tuple[str, str]:
    """What stands before a task's box, and the box with all that stands between it and the words."""
    line = plan.text.lines[task.box_line]
    box_index = line.index(f"[{task.mark}]")
    checkbox = read_checkbox(line[box_index:])
    assert checkbox is not None
    box_text = line[box_index : len(line) - len(checkbox.text)]
    return line[:box_index], box_text if box_text.endswith((" ", "\t")) else f"{box_text} "


def _replace_task(content: PlanContent, task: Task, *new_tasks: tuple[str, str]) -> PlanContent:
    """The facts with others in place of a task."""
    return content._replace(tasks=(*content.tasks[: task.number - 1], *new_tasks, *content.tasks[task.number :]))
