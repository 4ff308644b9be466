"""How the execution plan of a plan stands: not compiled, compiled, approved, stale, and so on; and its last run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from execplan.clock import from_utc, is_utc, minutes
from execplan.errors import ExecplanError
from execplan.plan.model import ACTIVE, COMPLETE, DONE, DRAFT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref, Shelved

    Run = Mapping[str, str | None]

NONE: Final = "none"
STALE: Final = "stale"
APPROVED: Final = "approved"
_UNAPPROVED: Final = ("compiled", "expired", "altered", "revoked")
"""Steps are compiled, and no approval covers them."""
_FAILED: Final = ("failed", "rolled_back")
"""States of a run that has not done what it should."""
_REVISED: Final = ("approve", "covered")
"""Why a run waits that has a new revision: it is to be approved, or what was approved before covers it."""
_IS_COVERED: Final = "can be resumed: its new revision needs no approval"
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


def standing_json(home: Home, ref: Ref) -> dict[str, Any]:
    """The approval status, and the last run; nothing heavy is imported where nothing was compiled."""
    folder = home.artifacts_of(ref.path, archived=ref.archived)
    run = _last_run(home, ref)
    if not os.path.lexists(os.path.join(folder, "execution-plan.json")):
        return {"state": NONE, "expires": None, "drift": [], "mode": None, "run": run}
    return {**_standing(home, ref, str(run["id"]) if run is not None and run["why"] in _REVISED else ""), "run": run}


def _last_run(home: Home, ref: Ref) -> Run | None:
    """The last run of a plan, None where there was none: only the end of its journal is read."""
    if not os.path.lexists(os.path.join(home.artifacts_of(ref.path, archived=ref.archived), "runs")):
        return None
    from execplan.engine.last import find_last_run

    found = find_last_run(home, ref)
    return found.as_document() if found is not None else None


def open_run(home: Home, ref: Ref) -> Run | None:
    """The last run of a plan, if it is not finished. The plan is not complete then, whatever its tasks say."""
    return _if_open(_last_run(home, ref))


def _if_open(run: Run | None) -> Run | None:
    if run is None:
        return None
    from execplan.engine.open_runs import OPEN_STATES

    return run if run["state"] in OPEN_STATES else None


def unfinished(standing: dict[str, Any] | None) -> Run | None:
    """The last run, if it is not finished."""
    return _if_open(standing["run"]) if standing else None


def _standing(home: Home, ref: Ref, run: str) -> dict[str, Any]:
    """How what it compiles to stands, for a run that waits with a revision if there is one."""
    from execplan.repo.execution.remembered import recall, remember

    known = recall(home, ref, run)
    if known is not None:
        return known
    from execplan.repo.execution.standing import standing

    found = standing(home, ref, run)
    expires = found.approval.expires_at if found.approval is not None else None
    told: dict[str, Any] = {"state": found.state, "expires": expires, "drift": list(found.drift), "mode": None}
    if found.now is not None:
        told["mode"] = found.now.current.document.mode
    remember(home, ref, found, told, run)
    return told


def told(shelved: Shelved) -> dict[str, Any] | None:
    """The approval status of a plan that may still run, and of a complete one whose last run is not finished."""
    if shelved.state in (ACTIVE, DRAFT) or (shelved.state == COMPLETE and open_run(shelved.home, shelved.ref)):
        return standing_json(shelved.home, shelved.ref)
    return None


def known(shelved: Shelved) -> dict[str, Any] | None:
    """The same, or None where it can't be found out, of which `evaluate` and `doctor` tell."""
    try:
        return told(shelved)
    except ExecplanError:
        return None


def mark(standing: dict[str, Any] | None) -> str:
    """The end of a line about a plan: its approval status and its open run; empty where there is neither."""
    if not standing:
        return ""
    parts = [f"steps: {standing['state']}"] if standing["state"] != NONE else []
    run = standing["run"]
    if unfinished(standing):
        parts.append(run_words(run))
    elif run is not None and run["state"] in _FAILED and run["reason"] and standing["state"] != APPROVED:
        parts.append(failed_words(run).partition(":")[0])
    return f" ({', '.join(parts)})" if parts else ""


def goes_on(standing: dict[str, Any] | None, name: str) -> tuple[str, ...]:
    """The commands that finish an open run, or come before that; none where no run is open."""
    run = unfinished(standing)
    if standing is None or run is None:
        return ()
    return _ways_on(run, name, approved=standing["state"] == APPROVED)


def finish_run(home: Home, ref: Ref, run: Run, name: str) -> tuple[str, ...]:
    """The same for a run that `open_run` returned; raises ExecplanError."""
    waits = run["why"] in _REVISED
    return _ways_on(run, name, approved=not waits or standing_json(home, ref)["state"] == APPROVED)


def _ways_on(run: Run, name: str, *, approved: bool) -> tuple[str, ...]:
    from execplan.engine.last import RUNNING, RunStatus
    from execplan.engine.open_runs import finishing_commands

    if run["state"] == RUNNING:
        return (f"execplan show {name} --run {run['id']}",)
    resume, *others = finishing_commands(RunStatus(str(run["id"]), str(run["state"])), name)
    if run["why"] in _REVISED and not approved:  # a resume would be refused
        return (f"execplan evaluate {name}", f"execplan approve {name}", *others)
    return (resume, *others)


def failed_run(standing: dict[str, Any] | None, plan: Plan) -> Run | None:
    """The last run, if it failed or was rolled back and the work did not go on: nothing was ticked or approved since."""
    run: Run | None = standing["run"] if standing else None
    if run is None or standing is None or run["state"] not in _FAILED or standing["state"] == APPROVED:
        return None
    ended = run["ended"]
    if ended and is_utc(ended):
        minute = from_utc(ended) // 60
        stamps = [minutes(task.stamp) for task in plan.tasks if task.state == DONE and task.stamp is not None]
        if any([first > minute for first, _ in filter(None, stamps)]):
            return None
    return run


def failed_words(run: Run) -> str:
    """A run that failed or was rolled back, for a person: which, and why it failed."""
    from execplan.engine.open_runs import run_number

    name = f"run {run_number(str(run['id']))}"
    if run["state"] == _FAILED[0]:
        return f"{name} failed: {run['reason']}"
    return f"{name} failed and was rolled back: {run['reason']}" if run["reason"] else f"{name} was rolled back"


def start(standing: dict[str, Any] | None, name: str) -> tuple[str, ...]:
    """The command that goes on with compiled steps: evaluate, or what starts an approved run; none without any."""
    if standing is None or standing["state"] not in (*_UNAPPROVED, APPROVED):
        return ()
    if standing["state"] in _UNAPPROVED:
        return (f"execplan evaluate {name}",)
    return (f"execplan handoff {name}" if standing.get("mode") == "agent" else f"execplan run {name}",)


def run_words(run: Run) -> str:
    """An open run, for a person: "run 1 was interrupted"."""
    from execplan.engine.open_runs import DESCRIPTIONS, run_number

    words = _IS_COVERED if run["why"] == "covered" else DESCRIPTIONS[str(run["state"])]
    return f"run {run_number(str(run['id']))} {words}"


def said(standing: dict[str, Any]) -> str:
    """The approval status and the open run, for a person."""
    until = f" until {standing['expires']}" if standing["state"] == APPROVED else ""
    run = unfinished(standing)
    return _SAID[standing["state"]] + until + (f", {run_words(run)}" if run else "")
