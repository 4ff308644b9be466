"""The changes of a task's words: reword, split."""

from __future__ import annotations

from execplan.clock import write_stamp
from execplan.errors import INPUT, USAGE, ExecplanError
from execplan.plan import outline
from execplan.plan.change import Change, Facts, Subject, facts, section_for
from execplan.plan.grammar import read_box, task_text
from execplan.plan.model import DONE, Plan, Task
from execplan.plan.seek import task_ids
from execplan.plan.shape import Shape, wrap
from execplan.plan.tasks import bullet_like, chosen_tasks, named_task, shape_beside, stamp_for
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from execplan.plan.change import Changer


def reword(query: str, words: str) -> Changer:
    """Put other words behind the box of the task that the query names, and behind its stamp unless they bring one."""
    text = _text(words)
    chosen: list[str] = []

    def change(plan: Plan) -> Change:
        section_for(plan, outline.PROGRESS, by="execplan add 'First step' --create")
        task = chosen_tasks(plan, [query], chosen)[0]
        before = facts(plan)
        at = task.number - 1
        subject = Subject(at, task_ids(plan.tasks)[at])
        name = f"{task.number}. {text}"
        head, box = _box(plan, task)
        new = _line(head, box, words, text, shape_beside(plan, task))
        if task.text == text and (words == text or (task.stamp is not None and words.startswith(task.stamp.text))):
            return Change((), before, "", (f"unchanged: {named_task(before.tasks, at)}",), (subject,))
        edit = Edit(task.box, task.end, tuple(new))
        after = _instead(before, task, (task.mark, text))
        return Change((edit,), after, f"reword {name}", (f"reworded: {named_task(after.tasks, at)}",), (subject,))

    return change


def split(query: str, done: str, remaining: str, moment: datetime) -> Changer:
    """Put a ticked task and an open one in the place of a half-done one; what is nested in it stays with the open one."""
    texts = (_text(done), _text(remaining))
    chosen: list[str] = []

    def change(plan: Plan) -> Change:
        section_for(plan, outline.PROGRESS, by="execplan add 'First step' --create")
        task = chosen_tasks(plan, [query], chosen)[0]
        before = facts(plan)
        parts = (("x", texts[0]), (" ", texts[1]))
        at, was = task.number - 1, task_ids(plan.tasks)[task.number - 1]
        if before.tasks[at : at + 2] == parts:
            told = [named_task(before.tasks, each) for each in (at, at + 1)]
            subjects = (Subject(at, was), Subject(at + 1, task_ids(plan.tasks)[at + 1]))
            return Change((), before, "", (f"done already: {told[0]}", f"open already: {told[1]}"), subjects)
        if task.state == DONE:
            raise ExecplanError(
                "task-done",
                f"task {task.number} is done: {task.text}",
                exit=INPUT,
                hint=f"reopen it first: execplan reopen {task.number}",
            )
        stamp = stamp_for(plan, task)
        ticked = f"[x] {write_stamp(moment, stamp)}{stamp.after or ' '}"
        new = split_lines(plan, task, ticked, "[ ]" + _box(plan, task)[1][3:], (done, remaining))
        after = _instead(before, task, *parts)
        said = (f"done: {named_task(after.tasks, at)}", f"open: {named_task(after.tasks, at + 1)}")
        edit = Edit(task.start, task.end, tuple(new))
        subjects = (Subject(at, was), Subject(at + 1, was))
        return Change((edit,), after, f"split {task.number}, {task.text}", said, subjects)

    return change


def split_lines(plan: Plan, task: Task, ticked: str, left: str, words: tuple[str, str]) -> list[str]:
    """The lines of the two tasks in the place of one: the box of each with its stamp, and what each says."""
    shape = shape_beside(plan, task)
    lines = _line(bullet_like(plan, task, 0), ticked, words[0], task_text(words[0]), shape)
    lines += [""] if shape.loose else []
    return lines + _line(bullet_like(plan, task, 1), left, words[1], task_text(words[1]), shape)


def _text(words: str) -> str:
    """The words of a task without a stamp that they begin with; raises ExecplanError when there are no others."""
    text = task_text(words)
    if not text:
        raise ExecplanError(
            "no-words", f"a task needs words, not only a stamp: {words!r}", exit=USAGE, hint="say what is to be done"
        )
    return text


def _line(head: str, box: str, words: str, text: str, shape: Shape) -> list[str]:
    """The lines of a task; a stamp that the words begin with stands in the place of the one behind the box."""
    return wrap(head + (box if words == text else f"{box[:3]} "), words, shape)


def _box(plan: Plan, task: Task) -> tuple[str, str]:
    """What stands before a task's box, and the box with all that stands between it and the words."""
    line = plan.text.lines[task.box]
    at = line.index(f"[{task.mark}]")
    box = read_box(line[at:])
    assert box is not None
    between = line[at : len(line) - len(box.words)]
    return line[:at], between if between.endswith((" ", "\t")) else f"{between} "


def _instead(before: Facts, task: Task, *parts: tuple[str, str]) -> Facts:
    """The facts with others in place of a task."""
    return before._replace(tasks=(*before.tasks[: task.number - 1], *parts, *before.tasks[task.number :]))
