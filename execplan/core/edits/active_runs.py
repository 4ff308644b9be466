"""Active runs, which write to the artifacts of a plan: it is not moved or removed meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.files.file_lock import is_held, read_holder
from execplan.core.project import project_state

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def ensure_not_running(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if a run of the plan is active, because the run writes to the plan's artifacts."""
    path = project_state.lock_path(project, "run")
    if not is_held(path):
        return
    run_holder = read_holder(path)
    if not run_holder or any([f" of {ref.id}{end}" in run_holder for end in (" ", ",")]):
        raise ExecplanError(
            "run-busy",
            f"a run of {ref.id} is in progress: {run_holder or 'unknown'}",
            hint="wait until it ends, or stop it with Ctrl-C in its terminal",
        )
