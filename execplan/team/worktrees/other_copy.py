"""What a command in the main worktree says about a plan if the work on it goes on in another worktree."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.git.linked_worktrees import list_worktrees
from execplan.core.plan_store import plan_store
from execplan.core.text.message_parts import quote
from execplan.team.worktrees.plan_versions import enter_command, replace_with_newest
from execplan.team.worktrees.worktree_record import find_worktree, load_record, plan_key

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


def ensure_own_copy(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if a plan of the main worktree has a worktree of its own."""
    record = load_record(project, plan_key(project, ref))
    worktree = find_worktree(record, list_worktrees(project)) if record is not None else None
    if record is not None and worktree is not None and os.path.isfile(os.path.join(worktree.root, record.plan)):
        directory = quote(os.path.relpath(record.directory_in(worktree.root)))
        name = plan_store.name_in_commands(project, ref)
        raise ExecplanError(
            "own-worktree",
            f"{ref.id} has its own worktree, {directory}, where agents edit it; nothing was written to the copy here",
            hint=f"repeat the command there, with -C {directory}; see what is next there: execplan -C {directory} next {name}",
        )


def _describe_other_copy(project: Project, ref: PlanRef, *, is_edit: bool) -> tuple[str, str] | None:
    record = load_record(project, plan_key(project, ref))
    has_own = record is not None and os.path.isdir(record.root)
    is_there = os.path.lexists(ref.path)  # not if this command has archived, renamed or dropped it
    location = replace_with_newest(plan_store.load(project, ref))[1] if is_there else None
    if location is not None and location.directory:
        warning, directory = f"{ref.id} is worked on {location.describe()}", location.directory
    elif has_own and is_edit and record is not None:
        warning = f"{ref.id} has its own worktree, {os.path.relpath(record.root)}"
        directory = record.directory_in(record.root)
    else:
        return None
    name = plan_store.name_in_commands(project, ref)
    command = enter_command(directory, name, has_own=has_own) if is_there else ""
    return f"{warning}; this is the copy of the main worktree", command
