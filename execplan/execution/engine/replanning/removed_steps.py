"""Runs of a plan whose steps were all removed from its text: they can only be rolled back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.execution.approvals.current_plan import compile_plan_file

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.run_records.run_directories import RunPaths


def has_no_steps(project: Project, ref: PlanRef) -> bool:
    """Return whether the text of a plan has no steps, not even with errors."""
    try:
        return compile_plan_file(project, ref).document is None
    except ExecplanError:
        return False


def ensure_has_steps(run_paths: RunPaths) -> None:
    """Raise ExecplanError if the steps of a run that was compiled from the plan were all removed from it."""
    project, ref = run_paths.project, run_paths.ref
    if not has_no_steps(project, ref):
        return
    name = ref.shell_name
    raise ExecplanError(
        "no-steps",
        f"run {run_paths.id} can't continue: no steps are left in {project.display_path(ref.path)}",
        hint=f"roll it back: execplan rollback {run_paths.number} -p {name}; or write its steps again: execplan edit {name}",
    )
