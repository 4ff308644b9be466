"""Interface between a run and the code that executes its steps; tests can replace it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.execution.engine.executors.executor import Executor
    from execplan.execution.engine.executors.remote_command import Placement
    from execplan.execution.engine.executors.worker_workspace import PackedWorkspace
    from execplan.execution.engine.journal.journal_entries import AttemptResult, StateChange
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.run_state import Attempt, RunState
    from execplan.execution.engine.steps.attempt_recovery import RecoveredAttempt
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.engine.steps.step_execution import PreparedStep
    from execplan.execution.engine.steps.tree_snapshots import ParallelChanges
    from execplan.execution.engine.ticks import TickResult
    from execplan.execution.execution_plan import Step
    from execplan.execution.world import State


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
            save_plan_and_settings(context.project, context.ref, context.run_paths)
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

        if reason_to_stay(step):
            return None
        if self._packed is None:
            self._packed = pack_workspace(context.project, context.workspace)
        return Placement(executor, executor.reserve(self._packed), self._packed, expected)

    def perform(self, context: RunContext, step: Step, attempt: int, prepared: PreparedStep) -> AttemptResult:
        """Perform a step's action once. Raises ExecplanError for problems other than the step's own failure."""
        from execplan.execution.engine.steps.step_execution import perform_step

        return perform_step(context, step, attempt, prepared)

    def repair(self, context: RunContext, journal_writer: JournalWriter) -> list[str]:
        """Restore the run's files that a step removed or altered, and return warnings. Raises ExecplanError."""
        return journal_writer.repair(context.project, context.ref, context.run_paths)

    def recover_attempt(self, context: RunContext, step: Step, attempt: Attempt) -> RecoveredAttempt:
        """Determine the outcome of an interrupted attempt. Raises ExecplanError."""
        from execplan.execution.engine.steps.attempt_recovery import recover_attempt

        return recover_attempt(context, step, attempt)

    def undo_changes(self, context: RunContext, changes: Sequence[StateChange], folders: Sequence[str]) -> None:
        """Restore the files to their state before an attempt. Raises ExecplanError."""
        from execplan.execution.engine.steps.file_writes import undo_changes

        undo_changes(context, changes, folders)

    def tick_task(self, context: RunContext, run_state: RunState, step: Step) -> tuple[str, TickResult]:
        """Check off the task that a step completes; return the transcript of the work and what was done to the task."""
        from execplan.execution.engine import ticks

        task_step = ticks.find_transcript_step(context.document, run_state, step)
        if task_step is None:
            return "", ticks.TickResult()
        performed = run_state.last_result(task_step.id)
        transcript = performed.transcript if performed is not None else ""
        return transcript, ticks.tick_task(context.project, context.ref, context.document, task_step, transcript)

    def path_exists(self, context: RunContext, path: str) -> bool:
        """Return whether something exists at a path."""
        return context.workspace.state(path).kind != "absent"

    def track_parallel_changes(self, context: RunContext) -> ParallelChanges:
        """Start to track changes to the tree while steps run in parallel. Raises ExecplanError."""
        from execplan.execution.engine.steps.tree_snapshots import ParallelChanges

        return ParallelChanges(context)
