"""Lookup of the grant in force for a call: that of the plan which was named, or the only one."""

from __future__ import annotations

import os

from execplan.agents.guard.guard_context import context_from_grant
from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.project.project_settings import Settings
from execplan.execution.engine.agent_runs import guard_grant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.engine.agent_runs.guard_grant import GuardGrant


def find_grant(plan_id: str | None) -> GuardGrant | None:
    """Return the grant in force: that of the plan with this ID, or the only one; None if it is ambiguous."""
    plan_id = plan_id or os.environ.get("EXECPLAN_PLAN") or None
    root, git = project_discovery.find_repository(os.path.realpath(os.getcwd()))
    project = Project(root, root, git, Settings(), True) if root is not None else _find_project_without_git()
    if project is None:
        return None
    if plan_id is not None:
        return guard_grant.load(project, plan_id)
    candidates = [
        grant
        for path in guard_grant.list_files(project.state)
        if (grant := guard_grant.load_file(project, path)) is not None
    ]
    if len(candidates) > 1:
        candidates = [grant for grant in candidates if _may_be_running(grant)]
    return candidates[0] if len(candidates) == 1 else None


def _may_be_running(grant: GuardGrant) -> bool:
    """Check whether a run may still be in progress."""
    from execplan.agents.guard import call_recording

    try:
        return not call_recording.is_run_over(context_from_grant(grant, call_recording.read_entries(grant)))
    except ExecplanError:
        return True


def _find_project_without_git() -> Project | None:
    """Return the project of a directory outside of git, if a grant was issued there."""
    folder = os.path.realpath(os.getcwd())
    while True:
        project = Project(folder, folder, None, Settings(), True)
        if guard_grant.list_files(project.state):
            return project
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
