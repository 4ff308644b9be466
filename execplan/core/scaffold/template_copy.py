"""New plans as copies of a markdown file that a repository uses as its template."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.clock import now
from execplan.core.errors import INPUT, ExecplanError
from execplan.core.files import file_access
from execplan.core.plan import reader
from execplan.core.plan.task_edits import add_task
from execplan.core.plan.title_edits import title_edit
from execplan.core.project.project import ensure_inside
from execplan.core.text.text_lines import apply_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.project.project import Project


def copy_template(project: Project, path: str, title: str, purpose: str, tasks: Sequence[str]) -> bytes:
    """Return the bytes of a new plan: the file with the new title, and with the tasks after those that it has.

    `path` is relative to the directory of the settings. Raises ExecplanError if the file can't be read, or for a purpose,
    whose place in the file is not known.
    """
    if purpose:
        raise ExecplanError(
            "no-place-for-purpose",
            f"{path}, which new plans are copied from, has no known place for --purpose",
            exit=INPUT,
            hint="omit it and write it into the plan, or use a built-in template: --template plan",
        )
    full_path = os.path.join(project.base, path)
    ensure_inside(project, full_path)
    if not os.path.isfile(full_path):
        raise ExecplanError(
            "unknown-template",
            f"{path}, which new plans are copied from, does not exist",
            exit=INPUT,
            hint="put it there, change the setting template, or use a built-in template: --template plan",
        )
    text = reader.decode(file_access.read(full_path, reader.MAX_BYTES + 1)[0])
    plan = reader.read_text(text)
    edit = title_edit(plan, title)
    text = apply_edits(text, (edit,) if edit is not None else ())
    for task in tasks:
        text = apply_edits(text, add_task(task, now(), create=True)(reader.read_text(text)).edits)
    return text.to_bytes()
