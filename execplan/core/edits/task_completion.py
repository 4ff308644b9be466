"""Who checked off a task of a plan in this checkout, from the plan's journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.edits.edit_entries import read_texts
from execplan.core.edits.edit_journal import read_entries
from execplan.core.plan import reader
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import task_ids

if TYPE_CHECKING:
    from execplan.core.project.project import Project


def find_completer(project: Project, path: str, task_id: str) -> str:
    """Return who last checked off a done task; empty if the journal doesn't say.

    Raises ExecplanError if the journal can't be read.
    """
    entries = read_entries(project, path)
    texts = read_texts(entries)
    for entry in reversed(entries):
        if entry.number in texts and entry.is_written and not entry.is_undone:
            was_done, is_done = [_is_done(text, task_id) for text in texts[entry.number]]
            if is_done and not was_done:
                return entry.author
    return ""


def _is_done(text: bytes, task_id: str) -> bool:
    tasks = reader.read(text).tasks
    return any([name == task_id and task.state == DONE for name, task in zip(task_ids(tasks), tasks, strict=True)])
