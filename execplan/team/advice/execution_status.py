"""Status of a plan's execution plan, such as not compiled, approved or stale, and of its last run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ACTIVE, COMPLETE, DONE, DRAFT
from execplan.core.plan_store import plan_store
from execplan.core.timestamps import is_utc_timestamp, minute_bounds, parse_utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.plan_facts.listed_plan import ListedPlan
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project

    LastRunJson = Mapping[str, str | None]

NOT_COMPILED: Final = "none"
STALE: Final = "stale"
APPROVED: Final = "approved"
INCOMPLETE: Final = "incomplete"
USED: Final = "used"
_UNAPPROVED: Final = ("compiled", STALE, "expired", "altered", "untrusted", INCOMPLETE, "revoked")
"""States with compiled steps but no approval that covers them."""
_FAILED: Final = ("failed", "rolled_back")
"""States of a run that did not succeed."""
_COMPLETED: Final = "completed"
_REVISED: Final = ("approve", "covered")
"""Reasons why a run waits with a new revision: it needs an approval, or an earlier approval covers it."""
_STATUS_TEXTS = {
    NOT_COMPILED: "not compiled",
    "compiled": "compiled, not approved",
    STALE: "stale: the plan or its inputs have changed",
    APPROVED: "approved",
    "expired": "the approval is not valid at this time",
    "altered": "the approval was altered",
    "untrusted": "the signature of the approval does not count",
    INCOMPLETE: "more people must approve",
    USED: "the approval was used",
    "revoked": "the approval was revoked",
}

_APPROVAL_LABELS = {
    NOT_COMPILED: "",
    "compiled": "not approved",
    STALE: "approval stale",
    APPROVED: "approved",
    "expired": "approval expired",
    "altered": "approval altered",
    "untrusted": "signature not allowed",
    INCOMPLETE: "more approvers needed",
    USED: "approval used",
    "revoked": "approval revoked",
}


def approval_label(state: str) -> str:
    """Return an approval status in two words; empty if nothing was compiled."""
    return _APPROVAL_LABELS[state]


def execution_status_json(project: Project, ref: PlanRef, *, use_cache: bool = True) -> dict[str, Any]:
    """Return the approval status and the last run; no heavy imports if nothing was compiled."""
    directory = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    run = read_last_run(project, ref)
    if not os.path.lexists(os.path.join(directory, "execution-plan.json")):
        return {"state": NOT_COMPILED, "expires": None, "drift": [], "mode": None, "run": run}
    revised_run = str(run["id"]) if run is not None and run["why"] in _REVISED else ""
    status = {**_approval_status_json(project, ref, revised_run, use_cache=use_cache), "run": run}
    if revised_run:
        from execplan.execution.engine.run_records.run_directories import get_run_paths
        from execplan.execution.engine.run_records.run_statuses import is_agent_run

        if is_agent_run(get_run_paths(project, ref, revised_run)):
            status["mode"] = "agent"
    return status


def read_last_run(project: Project, ref: PlanRef) -> LastRunJson | None:
    """Return the last run of a plan, or None; reads only the end of its journal."""
    if not os.path.lexists(os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), "runs")):
        return None
    from execplan.execution.engine.run_records.run_statuses import find_last_run

    last_run = find_last_run(project, ref)
    return last_run.as_document() if last_run is not None else None


def find_open_run(project: Project, ref: PlanRef) -> LastRunJson | None:
    """Return the last run of a plan if it is unfinished; then the plan is not complete, whatever its tasks show."""
    return _open_run_or_none(read_last_run(project, ref))


def _open_run_or_none(run: LastRunJson | None) -> LastRunJson | None:
    return run if run is not None and is_open_run(str(run["state"])) else None


def is_open_run(state: str) -> bool:
    """Return whether a run in a state is unfinished."""
    from execplan.execution.engine.run_records.run_statuses import OPEN_STATES

    return state in OPEN_STATES


def unfinished_run(status: dict[str, Any] | None) -> LastRunJson | None:
    """Return the last run in a status if it is unfinished."""
    return _open_run_or_none(status["run"]) if status else None


def _approval_status_json(project: Project, ref: PlanRef, run: str, *, use_cache: bool) -> dict[str, Any]:
    """Return the approval status of the execution plan; `run` is the run that waits with a revision, if any."""
    from execplan.execution.approvals.status_cache import cache_status, read_cached_status

    cached = read_cached_status(project, ref, run) if use_cache else None
    if cached is not None:
        return cached
    from execplan.execution.approvals.approval_status import UncompiledPlan, find_status

    approval_status = find_status(project, ref, run)
    approval, mode = None, None
    if not isinstance(approval_status, UncompiledPlan):
        approval, mode = approval_status.approval, approval_status.document.mode
    status: dict[str, Any] = {
        "state": approval_status.state,
        "expires": approval.expires_at if approval is not None else None,
        "drift": list(approval_status.reasons),
        "mode": mode,
    }
    if use_cache:
        cache_status(project, ref, approval_status, status, run)
    return status


def status_if_active(plan: StoredPlan | ListedPlan) -> dict[str, Any] | None:
    """Return the status of an active or draft plan, or of a complete plan whose last run is unfinished or failed; else None."""
    if plan.state in (ACTIVE, DRAFT):
        return execution_status_json(plan.project, plan.ref)
    run = read_last_run(plan.project, plan.ref) if plan.state == COMPLETE else None
    if run is None or not (_open_run_or_none(run) or run["state"] in _FAILED):
        return None
    status = execution_status_json(plan.project, plan.ref)
    if _open_run_or_none(run) or has_failed_work(status, plan_store.load(plan.project, plan.ref)):
        return status
    return None


def status_if_readable(stored_plan: StoredPlan) -> dict[str, Any] | None:
    """Like `status_if_active`, but return None if the status can't be read; `evaluate` and `doctor` report why."""
    try:
        return status_if_active(stored_plan)
    except ExecplanError:
        return None


def failed_work_warnings(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """Return a warning for a plan that is archived although its last run failed, and nothing was done since."""
    stored_plan = plan_store.load(project, ref)
    status = status_if_readable(stored_plan)
    if status is None or not has_failed_work(status, stored_plan):
        return ()
    return (f"{failed_run_text(status['run'])}; what it changed is still there",)


def status_suffix(status: dict[str, Any] | None) -> str:
    """Return a suffix for a plan's line, with its approval status and its open or failed run, or an empty string."""
    if not status:
        return ""
    notes = [f"steps: {status['state']}"] if status["state"] != NOT_COMPILED else []
    run = status["run"]
    if unfinished_run(status):
        notes.append(open_run_text(run, status["state"]))
    elif run is not None and run["state"] in _FAILED and run["reason"] and status["state"] != APPROVED:
        notes.append(failed_run_text(run, with_reason=False))
    return f" ({', '.join(notes)})" if notes else ""


def open_run_commands(status: dict[str, Any] | None, name: str) -> tuple[str, ...]:
    """Return the commands that finish an open run or must precede that; none without an open run."""
    run = unfinished_run(status)
    if status is None or run is None:
        return ()
    return _run_commands(run, name, status)


def finish_run_commands(project: Project, ref: PlanRef, run: LastRunJson, name: str) -> tuple[str, ...]:
    """Return the commands that finish a run returned by `find_open_run`; raises ExecplanError."""
    return _run_commands(run, name, execution_status_json(project, ref) if run["why"] in _REVISED else {})


def _run_commands(run: LastRunJson, name: str, status: dict[str, Any]) -> tuple[str, ...]:
    from execplan.execution.engine.run_records.finishing_commands import select_commands
    from execplan.execution.engine.run_records.run_statuses import RunStatus

    run_status = RunStatus(str(run["id"]), str(run["state"]), run["why"] or "", executor=run["executor"] or "")
    is_revised = run["why"] in _REVISED
    commands = select_commands(
        run_status,
        name,
        is_approved=not is_revised or status["state"] == APPROVED,
        by_agent=is_revised and status["mode"] == "agent",
    )
    is_handoff = commands[0].startswith("execplan handoff ")
    return commands[:1] if is_handoff else commands  # an agent's run goes on, so nothing is to be rolled back


def find_failed_run(status: dict[str, Any] | None, stored_plan: StoredPlan) -> LastRunJson | None:
    """Return the last run if it failed or was rolled back, and no task was completed or approval given since.

    After a rollback, it counts until other steps were compiled.
    """
    return _find_failed_run(status, stored_plan) if status and status["state"] != APPROVED else None


def _find_failed_run(status: dict[str, Any] | None, stored_plan: StoredPlan) -> LastRunJson | None:
    """Return the last run as `find_failed_run` does, also if its remaining steps are approved."""
    run: LastRunJson | None = status["run"] if status else None
    if run is None or run["state"] not in _FAILED:
        return None
    if can_run_after_rollback(run, stored_plan):
        return None
    ended, plan = run["ended"], stored_plan.require_plan()
    if ended and is_utc_timestamp(ended):
        minute = parse_utc_timestamp(ended) // 60
        stamps = [
            minute_bounds(task.timestamp) for task in plan.tasks if task.state == DONE and task.timestamp is not None
        ]
        if any([earliest > minute for earliest, _ in filter(None, stamps)]):
            return None
    return run


def has_failed_work(status: dict[str, Any] | None, stored_plan: StoredPlan) -> bool:
    """Return whether the last run failed and its changes are still in place, so that checked-off tasks may not be done."""
    run = _find_failed_run(status, stored_plan)
    return run is not None and not is_rolled_back(run)


def can_run_after_rollback(run: LastRunJson | None, stored_plan: StoredPlan) -> bool:
    """Return whether the last run was rolled back, and had not failed, or other steps were compiled since."""
    if run is None or not is_rolled_back(run):
        return False
    if not run["reason"]:
        return True
    from execplan.execution.engine.run_records.finishing_commands import has_new_steps

    return has_new_steps(stored_plan.project, stored_plan.ref, str(run["id"]))


def list_remaining_steps(stored_plan: StoredPlan, status: dict[str, Any]) -> list[str]:
    """Return the IDs of the steps that the last run left out because only others were selected, and that no run completed.

    None are returned after the steps have changed, as they are evaluated then, or for a damaged journal.
    """
    run: LastRunJson | None = status["run"]
    if run is None or run["state"] != _COMPLETED or status["state"] != USED:
        return []
    from execplan.execution.engine.run_records import run_directories, run_summary
    from execplan.execution.states import NOT_SELECTED

    remaining, done = list[str](), set[str]()
    try:
        for run_paths in run_directories.list_runs(stored_plan.project, stored_plan.ref):
            run_state = run_summary.load_run_state(run_paths, run_summary.read_run_entries(run_paths))
            done |= {*run_state.steps_with_status(_COMPLETED)} - run_state.rolled_back_steps
            if run_paths.id == run["id"]:
                remaining = [step for step, reason in run_state.reasons.items() if reason == NOT_SELECTED]
    except ExecplanError:  # `audit` and `doctor` report it
        return []
    return [step for step in remaining if step not in done]


def repeated_run_text(status: dict[str, Any], stored_plan: StoredPlan) -> str:
    """Return that the last run has completed all compiled steps, so that they need no other; empty if it has not."""
    run: LastRunJson | None = status["run"]
    if run is None or run["state"] != _COMPLETED or status["state"] != USED:
        return ""
    return "" if list_remaining_steps(stored_plan, status) else f"{last_run_text(run, USED)}: these steps have run"


def is_edited(run: LastRunJson) -> bool:
    """Return whether the steps of a run that has not completed were edited in the plan, or removed from it."""
    from execplan.execution.engine.run_records.run_statuses import EDITED, REMOVED

    return run["why"] in (EDITED, REMOVED)


def edited_run_command(run: LastRunJson, name: str) -> str:
    """Return the command that continues a run whose steps were edited, or rolls it back if none are left."""
    return _run_commands(run, name, {})[0]


def is_rolled_back(run: LastRunJson) -> bool:
    """Return whether a run that did not succeed was rolled back, so that nothing of it can continue."""
    return run["state"] == _FAILED[1]


def failed_run_text(run: LastRunJson, *, with_reason: bool = True) -> str:
    """Describe a failed or rolled back run, with its number and the reason of its failure."""
    from execplan.execution.engine.run_records.run_statuses import run_number

    outcome = "failed" if run["state"] == _FAILED[0] else "was rolled back"
    reason = f": {run['reason']}" if with_reason and run["reason"] else ""
    return f"run {run_number(str(run['id']))} {outcome}{reason}"


def last_run_text(run: LastRunJson, approval: str) -> str:
    """Describe the last run of a plan, as in "run 2 failed", whether it is open or ended, given the approval status."""
    from execplan.execution.engine.run_records.run_statuses import run_number

    if _open_run_or_none(run):
        return open_run_text(run, approval)
    if run["state"] == _COMPLETED:
        return f"run {run_number(str(run['id']))} completed"
    return failed_run_text(run, with_reason=False)


def start_commands(status: dict[str, Any] | None, name: str) -> tuple[str, ...]:
    """Return the command that continues with compiled steps: `evaluate`, or the one that starts an approved run.

    Returns no command if nothing was compiled, or if the plan no longer compiles.
    """
    if status is None or status["state"] not in (*_UNAPPROVED, APPROVED) or status["mode"] is None:
        return ()
    if status["state"] in _UNAPPROVED:
        return (f"execplan evaluate {name}",)
    run: LastRunJson | None = status["run"]
    if run is not None and run["state"] in _FAILED and not is_rolled_back(run):
        from execplan.execution.engine.error_hints import format_resume_command
        from execplan.execution.engine.run_records.run_statuses import run_number

        if is_edited(run):
            return (edited_run_command(run, name),)
        return (format_resume_command(run_number(str(run["id"])), name, run["executor"] or ""),)
    return (f"execplan handoff {name}" if status.get("mode") == "agent" else f"execplan run {name}",)


def approved_commands(project: Project, ref: PlanRef, name: str) -> tuple[str, ...]:
    """Return the commands that continue with steps that were just approved; raises ExecplanError."""
    status = execution_status_json(project, ref, use_cache=False)
    return open_run_commands(status, name) or start_commands(status, name)


def open_run_text(run: LastRunJson, approval: str) -> str:
    """Describe an open run, as in "run 1 was interrupted", given the approval status."""
    from execplan.execution.engine.run_records.run_statuses import describe_open_state, run_number

    text = describe_open_state(str(run["state"]), run["why"] or "", is_approved=approval == APPROVED)
    question = f": {run['reason']}" if run["reason"] and run["why"] not in _REVISED else ""
    return f"run {run_number(str(run['id']))} {text}{question}"


def status_text(status: dict[str, Any]) -> str:
    """Describe the approval status and the open run for people."""
    until = f" until {status['expires']}" if status["state"] == APPROVED else ""
    run = unfinished_run(status)
    return _STATUS_TEXTS[status["state"]] + until + (f", {open_run_text(run, status['state'])}" if run else "")
