"""What a command in the main worktree says about a plan if the work on it goes on in another worktree."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.plan_store import plan_store
from execplan.core.plan_store.author import actor_of_call
from execplan.core.text.message_parts import quote
from execplan.team.worktrees.plan_versions import replace_with_newest
from execplan.team.worktrees.worktree_record import load_record, plan_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def describe_other_copies(plans: Iterable[tuple[Project, PlanRef]], *, is_edit: bool) -> list[tuple[str, str]]:
    """Return a warning for each plan whose copy here is not the one to work on, and the command that leads to that.

    Without a command, what comes next is about the copy here, which this command has moved.

    `is_edit`: the command may have changed the copy here, which is then the newest, although the plan has a worktree.
    """
    described = [_describe_other_copy(project, ref, is_edit=is_edit) for project, ref in plans]
    return [copy for copy in described if copy is not None]


def _describe_other_copy(project: Project, ref: PlanRef, *, is_edit: bool) -> tuple[str, str] | None:
    record = load_record(project, plan_key(project, ref))
    has_own = record is not None and os.path.isdir(record.root)
    is_there = os.path.lexists(ref.path)  # not if this command has archived, renamed or dropped it
    location = replace_with_newest(plan_store.load(project, ref))[1] if is_there else None
    is_elsewhere = location is not None and bool(location.directory)
    if not is_elsewhere and not (has_own and is_edit):
        return None
    if is_elsewhere and location is not None:
        warning = f"{ref.id} is worked on {location.describe()}"
        command = f"cd {quote(os.path.relpath(location.directory))}"
    if has_own and record is not None:
        warning = warning if is_elsewhere else f"{ref.id} has its own worktree, {os.path.relpath(record.root)}"
        as_name = f" --as {quote(actor_of_call())}" if actor_of_call() else ""
        command = f'cd "$(execplan worktree {plan_store.name_in_commands(project, ref)}{as_name})"'
    return f"{warning}; this is the copy of the main worktree", command if is_there else ""
