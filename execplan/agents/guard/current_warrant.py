"""Which warrant a call is judged by, found without a look at any plan."""

from __future__ import annotations

import os

from execplan.agents.guard import keep
from execplan.agents.guard.basis import context_from_grant
from execplan.engine.agent import warrant as warrants
from execplan.errors import ExecplanError
from execplan.repo import homes
from execplan.repo.home import Project
from execplan.repo.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.agent.warrant import GuardGrant


def find_grant(plan_id: str | None) -> GuardGrant | None:
    """The warrant in force: of the plan that is named by its id, or the only one; None where that is not so plain."""
    plan_id = plan_id or os.environ.get("EXECPLAN_PLAN") or None
    root, git = homes.find_repository(os.path.realpath(os.getcwd()))
    project = Project(root, root, git, Settings(), True) if root is not None else _find_project_without_git()
    if project is None:
        return None
    if plan_id is not None:
        return warrants.load(project, plan_id)
    candidates = [grant for path in warrants.list_files(project.state) if (grant := warrants.load_file(project, path)) is not None]
    if len(candidates) > 1:
        candidates = [grant for grant in candidates if _may_be_running(grant)]
    return candidates[0] if len(candidates) == 1 else None


def _may_be_running(grant: GuardGrant) -> bool:
    """Whether a run is not known to be at its end."""
    try:
        return not keep.is_run_over(context_from_grant(grant, keep.read_entries(grant)))
    except ExecplanError:
        return True


def _find_project_without_git() -> Project | None:
    """The home that a folder lies in where no git is, as far as a warrant has been issued there."""
    folder = os.path.realpath(os.getcwd())
    while True:
        project = Project(folder, folder, None, Settings(), True)
        if warrants.list_files(project.state):
            return project
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
