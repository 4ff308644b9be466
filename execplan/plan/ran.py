"""The changes that a run makes in Progress: a task ticked with a link to what was printed, and that taken back."""

from __future__ import annotations

from execplan.plan.change import Change, facts
from execplan.plan.model import DONE, Task
from execplan.plan.seek import find_task, fold
from execplan.plan.tasks import chosen_tasks, inner_indent, reopen, tick
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from execplan.plan.change import Changer
    from execplan.plan.model import Plan

_SHOWN = "[transcript]"


def tick_run(query: str, moment: datetime, href: str) -> Changer:
    """Tick the task that the query names, and put a line with the link below its words; none for no link.

    A task that is done already stays as it is.
    """
    ticking = tick([query], moment)
    chosen: list[str] = []

    def change(plan: Plan) -> Change:
        task = chosen_tasks(plan, [query], chosen)[0]
        ticked = ticking(plan)
        if not ticked.edits or not href or link_of(plan, task, href) >= 0:
            return ticked
        mark = task.item.mark if task.item.mark in ("-", "*", "+") else "-"
        line = f"{inner_indent(plan, task)}{mark} {_SHOWN}({href})"
        return ticked._replace(edits=(*ticked.edits, Edit(task.end, task.end, (line,))))

    return change


def reopen_run(words: str, href: str, was: tuple[str, str] | None) -> Changer:
    """Take the link out again and empty the box of its task; without a link of the task with these words.

    `was` is the line of the box as the run wrote it, and as it was before: it is put back where nobody has edited it.
    """

    def change(plan: Plan) -> Change:
        task, at = _ticked(plan, words, href)
        before = facts(plan)
        edits = () if at < 0 else (Edit(at, at + 1, ()),)
        if task.state != DONE:
            return Change(edits, before, f"reopen {task.number}, {task.text}", ())
        made = reopen([str(task.number)])(plan)
        if was is not None and plan.text.lines[task.box] == was[0]:
            mark = was[1][was[0].index(f"[{task.mark}]") + 1]
            expected = [*before.tasks[: task.number - 1], (mark, task.text), *before.tasks[task.number :]]
            made = made._replace(
                edits=(Edit(task.box, task.box + 1, (was[1],)),), expected=before._replace(tasks=tuple(expected))
            )
        return made._replace(edits=(*made.edits, *edits))

    return change


def link_of(plan: Plan, task: Task, href: str) -> int:
    """The line below a task that links to what a step printed, -1 for none."""
    lines = plan.text.lines
    wanted = f"{_SHOWN}({href})"
    found = [at for at in range(task.end, task.stop) if lines[at].strip(" \t")[2:] == wanted]
    return found[0] if found and href else -1


def _ticked(plan: Plan, words: str, href: str) -> tuple[Task, int]:
    """The task with the link, and the line of that; else the done one with the words. Raises ExecplanError."""
    for task in reversed(plan.tasks):  # a nested task comes behind the one that it lies in
        at = link_of(plan, task, href)
        if at >= 0:
            return task, at
    same = [task for task in plan.tasks if task.state == DONE and fold(task.text) == fold(words)]
    return (same[0] if len(same) == 1 else find_task(plan, words)[1]), -1
