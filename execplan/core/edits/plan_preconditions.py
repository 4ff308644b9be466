"""Conditions of a change to a plan, which need neither its text nor its lock."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import quote


def ensure_not_archived(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if a plan is archived, because archived plans are not changed."""
    if ref.archived:
        raise ExecplanError(
            "archived-plan",
            f"{project.display_path(ref.path)} is archived: it is a record of completed work",
            hint=f"record new work in a new plan, or restore this one: execplan restore {ref.shell_name}",
        )


def ensure_plan_exists(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if a plan is no longer there: moved or removed by others, or not on the branch checked out."""
    if not os.path.lexists(ref.path):
        raise ExecplanError(
            "plan-gone",
            f"{project.display_path(ref.path)} is not here: it was moved or removed, or it is on another branch",
            hint=f"see all plans here: execplan list --all; or find its commits: git log --all --oneline -- {quote(os.path.relpath(ref.path))}",
        )
