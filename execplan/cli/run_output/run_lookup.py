"""Lookup of the run that a command continues or rolls back; the hints say what to do with a plan that was never run."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approvals.current_plan import lacks_steps
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.team.advice import execution_status


def first_run_command(project: Project, ref: PlanRef) -> str:
    """Return the command that leads to the first run of a plan, also of one whose tasks are done; an archived plan has none."""
    name = plan_store.name_in_commands(project, ref)
    if ref.archived:
        return f"execplan show {name}"
    if lacks_steps(project, ref):
        return "execplan explain steps"
    try:
        execution = execution_status.execution_status_json(project, ref)
    except ExecplanError:  # `compile` reports why
        execution = None
    return (*execution_status.start_commands(execution, name), f"execplan compile {name}")[0]


def find_run(project: Project, ref: PlanRef, name: str | None) -> RunPaths:
    """Return the run with this number or ID, or the last one; raises ExecplanError, with what comes before the first run."""
    try:
        return run_directories.find_run(project, ref, name)
    except ExecplanError as error:
        if not error.candidates and not lacks_steps(project, ref):
            label = "see the archived plan" if ref.archived else "what comes first"
            error.hint = f"{label}: {first_run_command(project, ref)}"
        raise


def find_run_to_roll_back(project: Project, ref: PlanRef, name: str | None) -> RunPaths:
    """Return the run with this number or ID, or the last one; raises ExecplanError."""
    try:
        return run_directories.find_run(project, ref, name)
    except ExecplanError as error:
        if not error.candidates:
            edits = f"execplan undo -p {ref.shell_name} --list"
            error.hint = f"there is nothing to roll back; see which edits can be undone: {edits}"
        raise
