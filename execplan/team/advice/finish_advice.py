"""Advice for a finished plan: archive it, or merge its own worktree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.implied_plan import is_plan_of_worktree
from execplan.core.text.message_parts import join_first
from execplan.core.text.pure_paths import is_inside
from execplan.team.advice.advice import Advice, Work
from execplan.team.worktrees.worktree_merge import changed_files
from execplan.team.worktrees.worktree_record import merge_command

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_MAX_NAMED = 3
"""Maximum number of changed files that advice names."""


def advise_finish(project: Project, ref: PlanRef, name: str) -> Advice:
    """Return the advice for a finished plan: archive it, which the merge of its own worktree does if it has one.

    In that worktree, the other changed files are to be committed first.
    """
    if not is_plan_of_worktree(project, ref):
        return Advice((merge_command(project, ref) or f"execplan archive {name}",))
    command = "execplan worktree --finish --commit"
    own = [project.display_path(path) for path in (ref.path, project.plan_artifacts_dir(ref.path, archived=False))]
    try:
        files = [file for file in changed_files(project.root) if not any([is_inside(file, path) for path in own])]
    except ExecplanError:
        files = []
    work = Work(f"commit your other changes ({join_first(files, _MAX_NAMED)})", command) if files else None
    return Advice((command,), work)
