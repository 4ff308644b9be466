"""How the execution plan of a plan stands: not compiled, compiled, approved, stale, and so on; and its last run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from execplan.plan.model import ACTIVE, DRAFT

if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref, Shelved

NONE: Final = "none"
STALE: Final = "stale"
APPROVED: Final = "approved"
_SAID = {
    NONE: "not compiled",
    "compiled": "compiled, not approved",
    STALE: "stale: the plan, or what it works on, has changed since",
    APPROVED: "approved",
    "expired": "the approval does not hold at this time",
    "altered": "the approval is not as it was given",
    "used": "the approval was used",
    "revoked": "the approval was revoked",
}
_RUNS = {
    "running": "is under way",
    "by_agent": "is carried out by an agent",
    "waiting": "waits for an answer",
    "cut_short": "was cut short",
    "rolling_back": "is half rolled back",
}
"""States of a last run that somebody should know of."""
_GO_ON = {"waiting": "resume", "cut_short": "resume", "rolling_back": "rollback"}
"""The verb that goes on with it."""


def standing_json(home: Home, ref: Ref) -> dict[str, Any]:
    """How it stands, and its last run; nothing heavy is imported where nothing was compiled or touched."""
    folder = home.artifacts_of(ref.path, archived=ref.archived)
    if not os.path.lexists(os.path.join(folder, "execution-plan.json")):
        return {"state": NONE, "expires": None, "drift": [], "run": None}
    return {**_standing(home, ref), "run": _run(home, ref) if os.path.lexists(os.path.join(folder, "runs")) else None}


def _run(home: Home, ref: Ref) -> dict[str, str | None] | None:
    """How the last run stands, None where there was none."""
    from execplan.engine.last import last

    found = last(home, ref)
    return found.told() if found is not None else None


def _standing(home: Home, ref: Ref) -> dict[str, Any]:
    """How what it compiles to stands."""
    from execplan.repo.execution.remembered import recall, remember

    known = recall(home, ref)
    if known is not None:
        return known
    from execplan.repo.execution.standing import standing

    found = standing(home, ref)
    expires = found.approval.expires_at if found.approval is not None else None
    told: dict[str, Any] = {"state": found.state, "expires": expires, "drift": list(found.drift)}
    remember(home, ref, found, told)
    return told


def told(shelved: Shelved) -> dict[str, Any] | None:
    """How it stands, of a plan that is open: what is finished or broken will not run."""
    return standing_json(shelved.home, shelved.ref) if shelved.state in (ACTIVE, DRAFT) else None


def mark(standing: dict[str, Any] | None) -> str:
    """What a line about a plan ends with; nothing where nothing was compiled."""
    if not standing or standing["state"] == NONE:
        return ""
    return f" (steps: {standing['state']}{_told(standing)})"


def goes_on(standing: dict[str, Any] | None, name: str) -> tuple[str, ...]:
    """The command that goes on with a run that waits or was cut short; none where there is no such run."""
    run = standing["run"] if standing else None
    verb = _GO_ON.get(run["state"]) if run is not None else None
    if run is None or verb is None:
        return ()
    if standing and run["why"] == "approve" and standing["state"] != APPROVED:
        return (f"execplan evaluate {name}",)
    return (f"execplan {verb} {run['id']} -p {name}",)


def said(standing: dict[str, Any]) -> str:
    """How it stands, for a person."""
    until = f" until {standing['expires']}" if standing["state"] == APPROVED else ""
    return _SAID[standing["state"]] + until + _told(standing)


def _told(standing: dict[str, Any]) -> str:
    """What somebody should know of the last run."""
    run = standing["run"]
    return (
        f", run {int(run['id'].partition('-')[0])} {_RUNS[run['state']]}"
        if run is not None and run["state"] in _RUNS
        else ""
    )
