"""What a shell is told that completes a command line: its script, and the plans and tasks that can be meant."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from execplan.errors import ExecplanError
from execplan.plan.model import DONE, OPEN
from execplan.plan.seek import task_ids
from execplan.repo import homes, pick, shelf

if TYPE_CHECKING:
    import click


def script(group: click.Command, shell: str) -> str:
    """The script by which a shell asks this command."""
    kind = get_completion_class(shell)
    assert kind is not None
    return ShellComplete.source(kind(group, {}, "execplan", "_EXECPLAN_COMPLETE"))


def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The plans, or the tasks of the plan that is meant, whose names begin so; none where nothing can be read."""
    folder = ctx.params.get("folder") or ctx.find_root().params.get("folder") or ""
    try:
        if (param.name or "").startswith("plan"):
            return _plans(os.path.abspath(folder), incomplete)
        return _tasks(os.path.abspath(folder), ctx, incomplete)
    except (ExecplanError, OSError):
        return []


def _plans(folder: str, incomplete: str) -> list[CompletionItem]:
    """Ids, those of the archive last; where none begins so, the shell completes files."""
    ids = [CompletionItem(ref.id) for ref in shelf.every(homes.find(folder)) if ref.id.startswith(incomplete)]
    return ids or [CompletionItem(incomplete, type="file")]


def _tasks(folder: str, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Ids, or numbers where a digit was typed; of the open tasks, for `reopen` of the done ones."""
    plan = shelf.load(*pick.open_plan(folder, ctx.params.get("plan"))).plan
    tasks = plan.tasks if plan is not None else []
    state = DONE if ctx.info_name == "reopen" else OPEN
    found = [
        (str(task.number) if incomplete.isdigit() else name, task)
        for task, name in zip(tasks, task_ids(tasks), strict=True)
        if task.state == state
    ]
    return [CompletionItem(name, help=task.text) for name, task in found if name.startswith(incomplete)]
