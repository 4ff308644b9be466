"""Archived plans with uncommitted changes, and the command that is next for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.edits.plan_commit import changed_plans
from execplan.core.errors import ExecplanError

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def changed_archived_plans(project: Project) -> list[tuple[Project, PlanRef]]:
    """Return the archived plans with uncommitted changes; none if git can't say."""
    try:
        changed = changed_plans(project) if project.git is not None else []
    except ExecplanError:
        return []
    return [(member, ref) for member, ref in changed if ref.archived]


def uncommitted_archive_commands(project: Project) -> tuple[str, ...]:
    """Return the command that commits archived plans with changes; none without such plans."""
    return ("execplan commit --all",) if changed_archived_plans(project) else ()
