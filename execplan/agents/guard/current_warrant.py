"""Which warrant a call is judged by, found without a look at any plan."""

from __future__ import annotations

import os

from execplan.agents.guard import keep
from execplan.agents.guard.basis import of_run
from execplan.engine.agent import warrant as warrants
from execplan.errors import ExecplanError
from execplan.repo import homes
from execplan.repo.home import Home
from execplan.repo.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.agent.warrant import GuardGrant


def warrant(named: str | None) -> GuardGrant | None:
    """The warrant in force: of the plan that is named by its id, or the only one; None where that is not so plain."""
    named = named or os.environ.get("EXECPLAN_PLAN") or None
    root, git = homes.repository(os.path.realpath(os.getcwd()))
    home = Home(root, root, git, Settings(), True) if root is not None else _without_git()
    if home is None:
        return None
    if named is not None:
        return warrants.load(home, named)
    found = [each for path in warrants.list_files(home.state) if (each := warrants.load_file(home, path)) is not None]
    if len(found) > 1:
        found = [each for each in found if _goes_on(each)]
    return found[0] if len(found) == 1 else None


def _goes_on(warrant: GuardGrant) -> bool:
    """Whether a run is not known to be at its end."""
    try:
        return not keep.is_over(of_run(warrant, keep.entries_of(warrant)))
    except ExecplanError:
        return True


def _without_git() -> Home | None:
    """The home that a folder lies in where no git is, as far as a warrant has been issued there."""
    folder = os.path.realpath(os.getcwd())
    while True:
        home = Home(folder, folder, None, Settings(), True)
        if warrants.list_files(home.state):
            return home
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
