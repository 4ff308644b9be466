"""The run of a plan that may go on: what it has done is not judged and not approved a second time."""

from __future__ import annotations

from execplan.engine import revisions, runs
from execplan.execution import states
from execplan.execution.evaluate import ActiveRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


def find_active_run(project: Project, ref: PlanRef) -> ActiveRun | None:
    """The last run of a plan with what it has done, None where it can't be resumed; raises ExecplanError."""
    run_paths, entries = runs.find_last_begun_run(project, ref)
    if run_paths is None:
        return None
    run_state = runs.load_run_state(run_paths, entries)
    if run_state.status not in (states.IN_PROGRESS, states.REPLANNING, states.FAILED) or run_state.open_rollback is not None:
        return None
    completed_ids = {step for step, status in run_state.status_of.items() if status in states.SUCCESS_STATES} - run_state.rolled_back_steps
    return ActiveRun(run_paths.id, revisions.latest_revision(entries)[1], frozenset(completed_ids))
