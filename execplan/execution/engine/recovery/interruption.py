"""Detection of the changes of an interrupted attempt for a rollback, without running or checking anything again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.execution.engine.journal.journal_entries import AttemptResult, attempt_result_json

if TYPE_CHECKING:
    from typing import Any

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.journal.journal_entries import StateChange
    from execplan.execution.engine.run_observer import RunObserver
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_state import Attempt, RunState
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step


def make_inspection_context(
    project: Project, ref: PlanRef, run_paths: RunPaths, run_state: RunState, observer: RunObserver
) -> RunContext:
    """Create a context to inspect the files that steps have left; it cannot run steps. Raises ExecplanError."""
    from execplan.execution.approvals.effective_policy import effective_policy
    from execplan.execution.engine.commands.command_sandbox import find_sandbox
    from execplan.execution.engine.steps.run_context import create_context

    policy = effective_policy(project)
    try:
        sandbox = find_sandbox(project, policy)[0]
    except ExecplanError:
        sandbox = None
    return create_context(project, ref, run_paths, run_state.document, policy, sandbox, observer, 0.0)


def read_interrupted_result(context: RunContext, step: Step, attempt: Attempt) -> dict[str, Any]:
    """Return the fields of the journal entry that ends an interrupted attempt. Raises ExecplanError."""
    from execplan.execution.engine.steps import tree_snapshots
    from execplan.execution.engine.steps.step_execution import outside_effects
    from execplan.execution.engine.steps.step_paths import is_command, runs_program

    effects = ""
    changes: tuple[StateChange, ...] = ()
    folders: tuple[str, ...] = ()
    if not runs_program(step) or not (is_command(step) or tree_snapshots.has_snapshot(context, step)):
        changes, folders = _written_changes(context, step, attempt)
    elif (
        not is_command(step)
        or not tree_snapshots.has_snapshot(context, step)
        or _was_program_started(context, step, attempt)
    ):
        changes, folders, unscanned = tree_snapshots.changes_since_snapshot(context, step)
        effects = outside_effects(context, step, unscanned)
        if any(
            [
                step.parallel and other_step.parallel and other_step.id != step.id
                for other_step in context.document.steps
            ]
        ):
            changes, folders = tree_snapshots.own_changes(step, changes, folders)
    reason = "it was interrupted, then rolled back"
    performed = AttemptResult(False, "interrupted", reason, changes=changes, folders=folders, outside=effects)
    return {"step": step.id, "attempt": attempt.number, **attempt_result_json(performed)}


def _written_changes(
    context: RunContext, step: Step, attempt: Attempt
) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
    """Return the changes and directories that a step without a program has, or may have, written."""
    from execplan.execution.engine.steps.file_writes import (
        ballast_path,
        list_created_folders,
        plan_changes,
        remove_ballast,
    )
    from execplan.execution.evaluation.projected_files import ImpossibleError

    remove_ballast(ballast_path(context, step))
    try:
        changes = tuple([change for _, change in plan_changes(context, step, attempt.before)])
    except ImpossibleError:
        return (), ()  # the step would have failed before it wrote anything
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return (), ()  # same here: a hunk does not apply
    return changes, list_created_folders(context, attempt.before)


def _was_program_started(context: RunContext, step: Step, attempt: Attempt) -> bool:
    from execplan.execution.engine.commands.launcher import read_marks
    from execplan.execution.engine.steps.step_paths import program_marks_path

    return read_marks(program_marks_path(context.run_paths, step, attempt.number)) != "never"
