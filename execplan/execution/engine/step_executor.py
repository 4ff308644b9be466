"""What executes the steps of a run and recovers interrupted attempts; tests can replace it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.execution import rare_features
from execplan.execution.binding import describe_difference
from execplan.execution.engine.journal.journal_entries import AttemptResult, StateChange
from execplan.execution.engine.steps import tree_snapshots
from execplan.execution.engine.steps.command_execution import ActionResult, evaluate_exit
from execplan.execution.engine.steps.file_writes import ballast_path, list_created_folders, plan_changes, remove_ballast
from execplan.execution.engine.steps.step_execution import RESUMED, AttemptTranscript, finish_attempt, outside_effects
from execplan.execution.engine.steps.step_paths import is_command, program_marks_path, runs_program
from execplan.execution.evaluation.projected_files import ImpossibleError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.execution.engine.commands.command_result import CommandResult
    from execplan.execution.engine.executors.executor import Executor
    from execplan.execution.engine.executors.remote_command import Placement
    from execplan.execution.engine.executors.worker_workspace import PackedWorkspace
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.run_state import Attempt, RunState
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.engine.steps.step_execution import PreparedStep
    from execplan.execution.engine.steps.tree_snapshots import ParallelChanges
    from execplan.execution.engine.ticks import TickResult
    from execplan.execution.execution_plan import Step
    from execplan.execution.world import State

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


def read_interrupted_result(context: RunContext, step: Step, attempt: Attempt) -> AttemptResult:
    """Return the result of an interrupted attempt that is to be rolled back, without running or checking anything again.

    Raises ExecplanError.
    """
    effects = ""
    changes: tuple[StateChange, ...] = ()
    folders: tuple[str, ...] = ()
    has_snapshot = tree_snapshots.has_snapshot(context, step)
    if not runs_program(step) or not (is_command(step) or has_snapshot):
        changes, folders = _written_changes(context, step, attempt) or ((), ())
    elif not is_command(step) or _read_outcome(context, step, attempt) != "never":
        changes, folders, unscanned = tree_snapshots.changes_since_snapshot(context, step, attempt.number)
        effects = outside_effects(context, step, unscanned)
        if step.parallel and any([other.parallel and other.id != step.id for other in context.document.steps]):
            changes, folders = tree_snapshots.own_changes(step, changes, folders)
    reason = "it was interrupted, then rolled back"
    return AttemptResult(False, "interrupted", reason, changes=changes, folders=folders, outside=effects)


def _read_outcome(context: RunContext, step: Step, attempt: Attempt) -> CommandResult | str:
    """Return how the command of an attempt ended, or how far it came; `begun` if that is not known for sure."""
    from execplan.execution.engine.commands.command_result import read_marks

    if not tree_snapshots.are_marks_complete(context.run_paths):
        return "begun"
    return read_marks(program_marks_path(context.run_paths, step, attempt.number))


def _written_changes(
    context: RunContext, step: Step, attempt: Attempt
) -> tuple[tuple[StateChange, ...], tuple[str, ...]] | None:
    """Return the changes and directories that a step without a program has, or may have, written; None if it can't have."""
    remove_ballast(ballast_path(context, step))
    if step.finds_files:  # a new approval may bind others
        step = features.load(rare_features.STEP_FILES)(step, attempt.before)
    try:
        changes = tuple([change for _, change in plan_changes(context, step, attempt.before)])
    except ImpossibleError:
        return None  # the step would have failed before it wrote anything
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return None  # same here: a hunk does not apply
    return changes, list_created_folders(context, attempt.before)


def _recover_files(context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
    file_changes = _written_changes(context, step, attempt)
    if file_changes is None:
        return RecoveredAttempt(UNDONE)
    changes, folders = file_changes
    current_states = [context.workspace.state(change.path) for change in changes]
    if not any(
        [
            describe_difference(change.after, current_state)
            for change, current_state in zip(changes, current_states, strict=True)
        ]
    ):
        return _complete_attempt(context, step, attempt, ActionResult(changes=changes, folders=folders))
    if not folders and not any(
        [
            describe_difference(change.before, current_state)
            for change, current_state in zip(changes, current_states, strict=True)
        ]
    ):
        return RecoveredAttempt(UNDONE)
    if runs_program(step) and tree_snapshots.has_snapshot(context, step):  # its test may have changed the same files
        test_changes, test_folders, _ = tree_snapshots.changes_since_snapshot(context, step, attempt.number)
        return RecoveredAttempt(PARTIAL, None, test_changes, test_folders)
    return RecoveredAttempt(PARTIAL, None, changes, folders)


def _recover_command(context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
    outcome = _read_outcome(context, step, attempt)
    if outcome == "never":
        return RecoveredAttempt(UNDONE)
    if (
        step.service is None
        and not isinstance(outcome, str)
        and (step.expect is None or evaluate_exit(step, outcome).cause)
    ):
        return _complete_attempt(context, step, attempt, evaluate_exit(step, outcome))
    # the output is lost, so it cannot be compared with the expected output
    changes, folders, unscanned = tree_snapshots.changes_since_snapshot(context, step, attempt.number)
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
    attempt_transcript = AttemptTranscript(context, step, attempt.number, RESUMED)
    with attempt_transcript as transcript:
        performed = finish_attempt(context, step, attempt.number, action_result, transcript)._replace(
            transcript=attempt_transcript.path_from_root
        )
    return RecoveredAttempt(DONE, performed, performed.changes, performed.folders)


class StepExecutor:
    """The executor that runs steps for real: here, or their commands on the workers of another executor."""

    def __init__(self, executor: Executor | None = None) -> None:
        self.executor = executor
        """Where commands run that may leave this machine; None if all run here."""
        self._packed: PackedWorkspace | None = None

    def prepare(self, context: RunContext, step: Step, run_state: RunState) -> PreparedStep:
        """Check the preconditions of a step and back up what it is about to change. Raises ExecplanError."""
        from execplan.execution.engine.run_records.run_repair import save_plan_and_settings
        from execplan.execution.engine.steps.step_execution import prepare_step

        expected = run_state.expected_now(context.workspace.state)
        prepared = prepare_step(context, step, expected)
        if prepared.snapshot:
            save_plan_and_settings(context.run_paths)
        if self.executor is None:
            return prepared
        return prepared._replace(placement=self._place(self.executor, context, step, expected))

    def _place(
        self, executor: Executor, context: RunContext, step: Step, expected: Mapping[str, State]
    ) -> Placement | None:
        """Reserve a worker for a step; return None if the step has to run here. Raises ExecplanError."""
        from execplan.execution.engine.executors.remote_command import Placement
        from execplan.execution.engine.executors.ticket_creation import reason_to_stay
        from execplan.execution.engine.executors.worker_workspace import pack_workspace

        if reason_to_stay(step, context.document):
            return None
        if self._packed is None:
            self._packed = pack_workspace(context.run_paths.project, context.workspace)
        return Placement(executor, executor.reserve(self._packed), self._packed, expected)

    def perform(self, context: RunContext, step: Step, attempt: int, prepared: PreparedStep) -> AttemptResult:
        """Perform a step's action once. Raises ExecplanError for problems other than the step's own failure."""
        from execplan.execution.engine.steps.step_execution import perform_step

        return perform_step(context, step, attempt, prepared)

    def repair(self, context: RunContext, journal_writer: JournalWriter) -> list[str]:
        """Restore the run's files that a step removed or altered, and return warnings. Raises ExecplanError."""
        return journal_writer.repair(context.run_paths)

    def recover_attempt(self, context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
        """Determine the outcome of an interrupted attempt. Raises ExecplanError."""
        return recover_attempt(context, step, attempt)

    def undo_changes(self, context: RunContext, changes: Sequence[StateChange], folders: Sequence[str]) -> None:
        """Restore the files to their state before an attempt. Raises ExecplanError."""
        from execplan.execution.engine.steps.file_writes import undo_changes

        undo_changes(context, changes, folders)

    def service_changes(
        self, context: RunContext, step: Step, run_state: RunState
    ) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
        """Return what changed since a service was started and no step has changed. Raises ExecplanError."""
        return tree_snapshots.unexplained_changes(context, step, run_state.expected_states, run_state.created_folders())

    def tick_task(self, context: RunContext, run_state: RunState, step: Step) -> tuple[str, TickResult]:
        """Check off the task that a step completes; return the transcript of the work and what was done to the task."""
        from execplan.execution.engine import ticks

        task_step = ticks.find_transcript_step(context.document, run_state, step)
        if task_step is None:
            return "", ticks.TickResult()
        performed = run_state.last_result(task_step.id)
        transcript = performed.transcript if performed is not None else ""
        return transcript, ticks.tick_task(
            context.run_paths.project, context.run_paths.ref, context.document, task_step, transcript
        )

    def path_exists(self, context: RunContext, path: str) -> bool:
        """Return whether something exists at a path."""
        return context.workspace.state(path).kind != "absent"

    def track_parallel_changes(self, context: RunContext) -> ParallelChanges:
        """Start to track changes to the tree while steps run in parallel. Raises ExecplanError."""
        from execplan.execution.engine.steps.tree_snapshots import ParallelChanges

        return ParallelChanges(context)
