"""Edits to the status of tasks that have no checkbox, and to the status lines of phases whose tasks have checkboxes."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import DONE, OPEN, is_unfinished, task_state
from execplan.core.plan.status_tasks import find_phases, read_headings, status_mark
from execplan.core.plan.status_words import translate
from execplan.core.text.text_lines import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan.model import ParsedPlan, Task, TaskStatus

_FORM_NAMES = {"line": "in a status line", "cell": "in a cell of a table", "start": "a word", "end": "a word"}


def write_status(plan: ParsedPlan, task: Task, mark: str) -> str:
    """Return the line of a task's status with another one; raises ExecplanError if it is not clear what to write."""
    status = task.status
    assert status is not None
    text = _find_text(status, mark, [other.status for other in plan.tasks if other.status is not None])
    if not text:
        problem = "no other task shows how its status is written"
        if not status.is_exact:
            problem = f"its status is more than a known word: {status.text.strip()!r}"
        state = DONE if mark == "x" else OPEN
        message = f"task {task.number} can't be marked {state}, because {problem}"
        raise _read_only_error(task, message, f"edit line {task.box_line + 1} by hand")
    return _replaced(plan.text.lines[task.box_line], status, text)


def no_checkbox_error(task: Task, command: str) -> ExecplanError:
    """Return the error for a command that writes checkboxes, in a plan that ends with a task without one."""
    form = _FORM_NAMES[task.status.form] if task.status is not None else ""
    message = f"{command} needs tasks with checkboxes, but the state of this plan's tasks is {form}"
    return _read_only_error(task, message, f"edit it by hand after line {task.box_line + 1}, or run: execplan convert")


def phase_edits(plan: ParsedPlan, tasks: Sequence[tuple[str, str]]) -> Iterator[tuple[Edit, str]]:
    """Yield the edits of status lines that contradict the boxes below their headings, if these change, each with a message.

    `tasks` are the marks and texts after the change. A status that is more than a known word stays.
    """
    phases = find_phases(plan, read_headings(plan))
    for heading, line, status in phases:
        phase_tasks = [task for task in plan.tasks if heading.block.end <= task.start < heading.end]
        boxes = [tasks[task.number - 1] for task in phase_tasks]
        is_changed = boxes != [(task.mark, task.text) for task in phase_tasks]
        is_begun = DONE in [task_state(*box) for box in boxes]
        mark = "x" if is_begun and not any([is_unfinished(*box) for box in boxes]) else "~"
        old_mark = status_mark(status.text)
        if is_changed and old_mark not in (mark, "-") and (is_begun or old_mark == "x"):
            text = _find_text(status, mark, [other for _, _, other in phases])
            edit = Edit(line, line + 1, (_replaced(plan.text.lines[line], status, text),))
            if text:
                yield edit, f"status of {heading.block.text}: {text}"


def _find_text(status: TaskStatus, mark: str, examples: Sequence[TaskStatus]) -> str:
    """Return what to write: what most others of this form say, or else the word for it; empty if that is not clear."""
    if not status.is_exact:
        return ""
    all_texts = [other.text for other in examples if other.form == status.form and other.is_exact and other.text]
    texts = [text for text in all_texts if status_mark(text) == mark]
    return max(texts, key=texts.count) if texts else translate(status.text or (all_texts or [""])[0], mark)


def _replaced(line: str, status: TaskStatus, text: str) -> str:
    return line[: status.column] + text + line[status.column + len(status.text) :]


def _read_only_error(task: Task, message: str, hint: str) -> ExecplanError:
    return ExecplanError("read-only-task", message, hint=hint, line=task.box_line + 1)
