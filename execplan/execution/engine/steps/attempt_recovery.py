"""Recovery of an interrupted attempt: determines from its traces how far it came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.execution.binding import describe_difference
from execplan.execution.engine.journal.journal_entries import AttemptResult, StateChange
from execplan.execution.engine.steps import tree_snapshots
from execplan.execution.engine.steps.command_execution import ActionResult, evaluate_exit
from execplan.execution.engine.steps.file_writes import ballast_path, list_created_folders, plan_changes, remove_ballast
from execplan.execution.engine.steps.step_execution import AttemptTranscript, finish_attempt, outside_effects
from execplan.execution.engine.steps.step_paths import is_command, program_marks_path, runs_program
from execplan.execution.evaluation.projected_files import ImpossibleError

if TYPE_CHECKING:
    from typing import Final

    from execplan.execution.engine.run_state import Attempt
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

UNDONE: Final = "undone"
DONE: Final = "done"
PARTIAL: Final = "partial"
UNKNOWN: Final = "unknown"


class RecoveredAttempt(NamedTuple):
    """How far an attempt came whose end was not recorded."""

    kind: str
    """One of `undone`, `done`, `partial` and `unknown`.

    `undone`: nothing was done. `done`: the attempt ended, successfully or not. `partial`: some of it was done, which
    must be undone before the step runs again. `unknown`: the step may run only once, and it is unknown whether it did
    its work.
    """
    performed: AttemptResult | None = None
    """The result of the attempt; for an unknown outcome, the result in case the work was done."""
    changes: tuple[StateChange, ...] = ()
    """Changes to undo before the step runs again."""
    folders: tuple[str, ...] = ()


def recover_attempt(context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
    """Determine how far an attempt came, and run the checks that are still missing. Raises ExecplanError.

    Changes that the step does not declare may have been made by parallel steps.
    """
    return _recover_command(context, step, attempt) if is_command(step) else _recover_files(context, step, attempt)


def _recover_files(context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
    remove_ballast(ballast_path(context, step))
    try:
        changes = [change for _, change in plan_changes(context, step, attempt.before)]
    except ImpossibleError:
        return RecoveredAttempt(UNDONE)  # the step would have failed before it wrote anything
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return RecoveredAttempt(UNDONE)  # same here: a hunk does not apply
    folders = list_created_folders(context, attempt.before)
    current_states = [context.workspace.state(change.path) for change in changes]
    if not any(
        [
            describe_difference(change.after, current_state)
            for change, current_state in zip(changes, current_states, strict=True)
        ]
    ):
        return _complete_attempt(context, step, attempt, ActionResult(changes=tuple(changes), folders=folders))
    if not folders and not any(
        [
            describe_difference(change.before, current_state)
            for change, current_state in zip(changes, current_states, strict=True)
        ]
    ):
        return RecoveredAttempt(UNDONE)
    if runs_program(step) and tree_snapshots.has_snapshot(context, step):  # its test may have changed the same files
        test_changes, test_folders, _ = tree_snapshots.changes_since_snapshot(context, step)
        return RecoveredAttempt(PARTIAL, None, test_changes, test_folders)
    return RecoveredAttempt(PARTIAL, None, tuple(changes), folders)


def _recover_command(context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
    from execplan.execution.engine.commands.launcher import read_marks

    outcome = read_marks(program_marks_path(context.run_paths, step, attempt.number))
    if outcome == "never" and tree_snapshots.has_snapshot(
        context, step
    ):  # marks mean nothing if the state of the run is missing
        return RecoveredAttempt(UNDONE)
    if not isinstance(outcome, str) and (step.expect is None or evaluate_exit(step, outcome).cause):
        return _complete_attempt(context, step, attempt, evaluate_exit(step, outcome))
    # the output is lost, so it cannot be compared with the expected output
    changes, folders, unscanned = tree_snapshots.changes_since_snapshot(context, step)
    if step.effect == "idempotent":
        return RecoveredAttempt(PARTIAL, None, changes, folders)
    reason = "it was interrupted, and a person answered that it was done"
    assumed_result = AttemptResult(
        True, "", reason, changes=changes, folders=folders, outside=outside_effects(context, step, unscanned)
    )
    return RecoveredAttempt(UNKNOWN, assumed_result, changes, folders)


def _complete_attempt(
    context: RunContext, step: Step, attempt: Attempt, action_result: ActionResult
) -> RecoveredAttempt:
    """Complete an attempt: check its outputs and what it printed, and run its test."""
    attempt_transcript = AttemptTranscript(context, step, attempt.number, is_recovery=True)
    with attempt_transcript as transcript:
        performed = finish_attempt(context, step, attempt.number, action_result, transcript)._replace(
            transcript=attempt_transcript.path_from_root
        )
    return RecoveredAttempt(DONE, performed, performed.changes, performed.folders)
