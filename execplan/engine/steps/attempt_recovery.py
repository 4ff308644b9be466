"""A step that was cut short: by what it has left behind, how far it came."""

from __future__ import annotations

from execplan.engine.journal.journal_entries import AttemptResult, Change
from execplan.engine.steps import tree_snapshots
from execplan.engine.steps.command_execution import ActionResult, evaluate_exit
from execplan.engine.steps.file_writes import ballast_path, list_created_folders, plan_changes, remove_ballast
from execplan.engine.steps.step_execution import AttemptTranscript, finish_attempt, outside_effects
from execplan.engine.steps.step_paths import is_command, program_marks_path, runs_program
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.binding import describe_difference
from execplan.execution.evaluation.file_changes import ImpossibleError
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.run_state import Attempt
    from execplan.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

UNDONE: Final = "undone"
DONE: Final = "done"
PARTIAL: Final = "partial"
UNKNOWN: Final = "unknown"


class RecoveredAttempt(NamedTuple):
    """How far an attempt came whose end nobody has written down."""

    kind: str
    """`undone`: nothing of it happened. `done`: it came to its end, well or not. `partial`: something of it happened, which
    is to be taken back, and it may run again. `unknown`: it may run only once, and nobody knows whether it did its work."""
    performed: AttemptResult | None = None
    """How it ended; of an unknown one, how it did if it has done its work."""
    changes: tuple[Change, ...] = ()
    """What is to be taken back before it runs again."""
    folders: tuple[str, ...] = ()


def recover_attempt(context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
    """How far an attempt came; what has not been checked by then is checked now. Raises ExecplanError.

    What it does not declare may be the work of steps that ran beside it.
    """
    return _recover_command(context, step, attempt) if is_command(step) else _recover_files(context, step, attempt)


def _recover_files(context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
    remove_ballast(ballast_path(context, step))
    try:
        changes = [change for _, change in plan_changes(context, step, attempt.before)]
    except ImpossibleError:
        return RecoveredAttempt(UNDONE)  # it would have failed before it wrote anything
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return RecoveredAttempt(UNDONE)  # as above: a hunk that does not fit
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
    from execplan.engine.commands.launcher import read_marks

    outcome = read_marks(program_marks_path(context.run_paths, step, attempt.number))
    if outcome == "never" and tree_snapshots.has_snapshot(
        context, step
    ):  # without the state of the run no mark says anything
        return RecoveredAttempt(UNDONE)
    if not isinstance(outcome, str) and (step.expect is None or evaluate_exit(step, outcome).cause):
        return _complete_attempt(context, step, attempt, evaluate_exit(step, outcome))
    # what it printed is not known any more: nobody can say whether that was what is expected
    changes, folders, unscanned = tree_snapshots.changes_since_snapshot(context, step)
    if step.effect == "idempotent":
        return RecoveredAttempt(PARTIAL, None, changes, folders)
    reason = "it was cut short, and somebody said that it has done its work"
    assumed_result = AttemptResult(
        True, "", reason, changes=changes, folders=folders, outside=outside_effects(context, step, unscanned)
    )
    return RecoveredAttempt(UNKNOWN, assumed_result, changes, folders)


def _complete_attempt(
    context: RunContext, step: Step, attempt: Attempt, action_result: ActionResult
) -> RecoveredAttempt:
    """The rest of it: what it should have made and printed is looked at, and its test runs."""
    attempt_transcript = AttemptTranscript(context, step, attempt.number, is_recovery=True)
    with attempt_transcript as transcript:
        performed = finish_attempt(context, step, attempt.number, action_result, transcript)._replace(
            transcript=attempt_transcript.path_from_root
        )
    return RecoveredAttempt(DONE, performed, performed.changes, performed.folders)
