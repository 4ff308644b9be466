"""Thread pool for the attempts of a run's steps, with the journal entries before and after each attempt."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.files.sync_group import SyncGroup
from execplan.core.text.pure_paths import is_inside
from execplan.execution.engine.journal.journal_entries import (
    INTENT,
    RESULT,
    RETAKEN,
    SERVICE_ENDED,
    attempt_result_json,
    change_json,
    state_json,
)
from execplan.execution.engine.run_preconditions import (
    WARNING,
    changed_program_fields,
    ensure_programs_unchanged,
    list_changed_programs,
)
from execplan.execution.engine.schedule import can_run_in_parallel
from execplan.execution.engine.steps.step_paths import list_declared_paths
from execplan.execution.engine.telemetry.trace_context import attempt_traceparent
from execplan.execution.execution_plan import PROGRAM_TYPES

if TYPE_CHECKING:
    from types import TracebackType

    from execplan.execution.engine.journal.journal_entries import AttemptResult, StateChange
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.step_executor import StepExecutor
    from execplan.execution.engine.step_permission import Permit
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.engine.steps.tree_snapshots import ParallelChanges
    from execplan.execution.execution_plan import Step


class AttemptOutcome(NamedTuple):
    """The outcome of an attempt of a step."""

    step: Step
    attempt: int
    was_begun: bool
    """Whether the intent entry was written to the journal."""
    performed: AttemptResult | None
    """The attempt's result; None if something other than the step failed, or if the attempt was not begun."""
    error: BaseException | None = None


class AttemptPool:
    """The attempts of one run session, from the beginning of a run or a resume until it stops."""

    def __init__(
        self, context: RunContext, journal_writer: JournalWriter, executor: StepExecutor, permit: Permit, jobs: int
    ) -> None:
        self.context = context
        self.deadline = context.deadline
        """Time limit of the run by time.monotonic(), extended by the time that a person takes to answer a question."""
        self.running_steps: dict[str, Step] = {}
        self.warnings: list[str] = []
        self.journal_writer, self.executor, self.jobs = journal_writer, executor, jobs
        self._permit = permit
        self._outcomes: SimpleQueue[AttemptOutcome | None] = SimpleQueue()
        self._pool = ThreadPoolExecutor(jobs, "step")
        self._prepare_lock = Lock()
        self._parallel_changes: ParallelChanges | None = None
        self._concurrent_steps: set[str] = set()
        """The steps that have run since the pool was last idle. A step that ran alone knows what it has changed."""

    def __enter__(self) -> AttemptPool:
        self.journal_writer.is_running_steps = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not self.context.stop.is_set():
            self.context.stop.set("trouble")  # no one waits for the running steps any more
        self._pool.shutdown()
        if self.context.running_services is not None:
            deque(self.context.running_services.stop(), 0)

    def wake(self) -> None:
        """Make `wait` return early; may be called from a signal handler."""
        self._outcomes.put(None)

    def begin(self, step: Step) -> None:
        """Begin an attempt of a step. Raises ExecplanError if it is not permitted or the tree cannot be scanned."""
        self.sync_results()
        approved_by = self._permit.begin(step, self.journal_writer.run_state).approved_by
        runs_alone = not self.running_steps
        if not self.running_steps:
            self._concurrent_steps.clear()
            self._parallel_changes = (
                self.executor.track_parallel_changes(self.context)
                if self.jobs > 1 and can_run_in_parallel(step)
                else None
            )
        self._concurrent_steps.add(step.id)
        self.running_steps[step.id] = step
        attempt = len(self.journal_writer.run_state.attempts.get(step.id, ())) + 1
        self._pool.submit(self._attempt, step, attempt, approved_by, runs_alone)

    def wait(self, seconds: float) -> AttemptOutcome | None:
        """Return the next outcome of an attempt, or None on a timeout or after `wake`."""
        try:
            outcome = self._outcomes.get(timeout=seconds)
        except Empty:
            return None
        if outcome is not None:
            del self.running_steps[outcome.step.id]
        return outcome

    def record_result(self, step: Step, attempt: int, performed: AttemptResult) -> None:
        """Record how an attempt ended; then check off the step's task, or undo its changes. Raises ExecplanError."""
        performed = self._own_changes(step, performed)
        self.repair()
        program_fields = changed_program_fields(self.context, self.journal_writer.run_state)
        # nothing depends on such a result until `sync_results`, or until the run ends
        is_synced_later = performed.ok and step.task is None and not self.running_steps
        write = self.journal_writer.write_unsynced if is_synced_later else self.journal_writer.write
        write(RESULT, step=step.id, attempt=attempt, **attempt_result_json(performed), **program_fields)
        if performed.ok:
            self.tick_task(step)
        elif step.rollback.enabled and not is_outcome_unknown(step, performed):
            self.undo_changes(step, attempt, performed.changes, self._unused_folders(performed.folders))

    def sync_results(self) -> None:
        """Sync the results of attempts before the run continues. Raises ExecplanError."""
        self.journal_writer.sync()

    def stop_services(self) -> None:
        """Stop all services, and record how each ended. Raises ExecplanError."""
        run_state, services = self.journal_writer.run_state, self.context.running_services
        if services is None:
            return
        self.sync_results()
        for service, result in list(services.stop()):
            step = service.step
            is_needed = run_state.is_service_needed(step)
            ended = result if result.ok or is_needed else result._replace(ok=True, cause="", reason="")
            changes, folders = self.executor.service_changes(self.context, step, run_state)
            log = self.context.run_paths.project.display_path(service.log.path)
            fields = attempt_result_json(ended._replace(changes=changes, folders=folders, transcript=log))
            self.journal_writer.write(SERVICE_ENDED, step=step.id, attempt=service.attempt, **fields)

    def _unused_folders(self, folders: tuple[str, ...]) -> tuple[str, ...]:
        """Return the directories in which no running step declares to write."""
        paths = [path for step in self.running_steps.values() for path in list_declared_paths(step)]
        return tuple([folder for folder in folders if not any([is_inside(path, folder) for path in paths])])

    def repair(self) -> None:
        """Restore the run's files that a step has removed or altered. Raises ExecplanError."""
        self.warnings += self.executor.repair(self.context, self.journal_writer)

    def tick_task(self, step: Step) -> None:
        """Check off the task that a step completes, if there is one. A failure to do so does not fail the step."""
        tick = self.executor.tick_task(self.context, self.journal_writer.run_state, step)
        self.warnings += self.journal_writer.write_tick(step.id, *tick)

    def undo_changes(
        self, step: Step, attempt: int, changes: tuple[StateChange, ...], folders: tuple[str, ...]
    ) -> None:
        """Restore the files to their state before an attempt, and record that. Raises ExecplanError."""
        self.executor.undo_changes(self.context, changes, folders)
        change_fields = [change_json(change) for change in changes]
        program_fields = changed_program_fields(self.context, self.journal_writer.run_state)
        self.journal_writer.write(RETAKEN, step=step.id, attempt=attempt, changes=change_fields, **program_fields)

    def _attempt(self, step: Step, attempt: int, approved_by: str, runs_alone: bool) -> None:
        """Run an attempt in its own thread: check the preconditions, perform the step and queue the outcome."""
        was_begun, performed, error = False, None, None
        try:
            with self._prepare_lock:
                if not self.context.stop.is_set():
                    if runs_alone:  # a parallel step may be building a program at this moment
                        self._check_programs(step)
                    with SyncGroup(self.journal_writer.journal.unsynced):
                        prepared = self.executor.prepare(self.context, step, self.journal_writer.run_state)
                    before = {path: state_json(state) for path, state in prepared.before.items()}
                    placement = prepared.placement
                    worker_field = {"worker": placement.worker.name} if placement is not None else {}
                    self.journal_writer.write(
                        INTENT,
                        step=step.id,
                        attempt=attempt,
                        by=approved_by,
                        before=before,
                        snapshot=prepared.snapshot,
                        **worker_field,
                    )
                    was_begun = True
            if was_begun:
                traceparent = attempt_traceparent(self.journal_writer.run_state.begin_fields, step.id, attempt)
                context = self.context._replace(deadline=self.deadline, traceparent=traceparent)
                performed = self.executor.perform(context, step, attempt, prepared)
        except BaseException as exception:  # noqa: BLE001 - the loop raises it, when all that runs has ended
            error = exception
        self._outcomes.put(AttemptOutcome(step, attempt, was_begun, performed, error))

    def _check_programs(self, step: Step) -> None:
        """Warn if a step would run a different program than the approved one.

        Raises ExecplanError instead if the policy does not allow that.
        """
        run_state = self.journal_writer.run_state
        differences = (
            list_changed_programs(self.context.run_paths.project, run_state, [step]) if run_state.programs else []
        )
        if differences and self.context.policy.programs != "refuse":
            self.warnings += [warning for warning in map(WARNING.format, differences) if warning not in self.warnings]
            return
        commands = "execplan approve; execplan resume"
        ensure_programs_unchanged(
            differences,
            f"step {step.id} was not started because it would run a different program or code than approved",
            commands,
        )

    def _own_changes(self, step: Step, performed: AttemptResult) -> AttemptResult:
        """Return the result of an attempt with only its own changes.

        Changes that parallel steps made and no step declares are attributed to the step that ends last.
        """
        if len(self._concurrent_steps) < 2:
            return performed
        from execplan.execution.engine.steps.tree_snapshots import own_changes

        changes, folders = own_changes(step, performed.changes, performed.folders)
        if self.running_steps or self._parallel_changes is None:
            return performed._replace(changes=changes, folders=folders)
        undeclared_changes, undeclared_folders = self._parallel_changes.undeclared()
        return performed._replace(changes=(*changes, *undeclared_changes), folders=(*folders, *undeclared_folders))


def is_outcome_unknown(step: Step, performed: AttemptResult) -> bool:
    """Return whether a command was interrupted that may run only once, so that its effect is unknown."""
    return performed.cause == "interrupted" and is_one_time_command(step)


def is_one_time_command(step: Step) -> bool:
    """Return whether a step is a command that may run only once.

    Steps that write files never are: their effect can be inspected.
    """
    return step.type in PROGRAM_TYPES and step.effect == "once"
