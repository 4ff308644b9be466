"""Plan selection for commands about runs: without a plan name, the only plan with a run."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.execution.approvals import approval_files
from execplan.execution.engine.run_records import run_directories, run_statuses

_ENDED = run_statuses.STATES[-3:]


def choose_plan_with_run(start: str, query: str | None, *, or_approved: bool = False) -> tuple[Project, PlanRef]:
    """Choose the named plan, else the only plan whose run has not ended, else the plan that other commands choose.

    If those find several, choose the only one that was ever run or, with `or_approved`, the only one with an approval.
    Raises ExecplanError.
    """
    if query is not None or plan_selection.plan_from_environment() is not None:
        return plan_selection.select_plan(start, query)
    plans = [
        (project, ref)
        for project in project_discovery.with_nested_projects(project_discovery.require(start))
        for ref in plan_store.refs(project)
    ]
    with_runs = [(project, ref) for project, ref in plans if len(plans) > 1 and run_directories.list_runs(project, ref)]
    with_open_run = [(project, ref) for project, ref in with_runs if _has_open_run(project, ref)]
    if len(with_open_run) == 1:
        return with_open_run[0]
    try:
        return plan_selection.select_plan(start, None)
    except ExecplanError as error:
        if error.code == "no-plan" and error.candidates:
            error.hint = f"restore the plan of the run first, as in: execplan restore {error.candidates[0]}"
        if error.code != "ambiguous-plan":
            raise
        candidates = with_open_run or with_runs
        if not candidates and or_approved:
            candidates = [(project, ref) for project, ref in plans if approval_files.read_all(project, ref)]
        if len(candidates) == 1:
            return candidates[0]
        raise


def _has_open_run(project: Project, ref: PlanRef) -> bool:
    """Return whether the last run of a plan has not ended."""
    try:
        run_status = run_statuses.find_last_run(project, ref)
    except ExecplanError:
        return False
    return run_status is not None and run_status.state not in _ENDED
