"""Rollback of a run: restores its files, directories and tasks; an interrupted rollback can be repeated."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from execplan.core import features
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import author, plan_store
from execplan.core.project.project_discovery import require_existing
from execplan.execution import rare_features, states
from execplan.execution.engine.error_hints import add_hint_on_error
from execplan.execution.engine.journal.journal_entries import (
    ENDED,
    REOPENED,
    RESTORED,
    RESULT,
    ROLLBACK,
    ROLLED_BACK,
    attempt_result_from_entry,
    attempt_result_json,
    change_json,
)
from execplan.execution.engine.journal.journal_writer import JournalWriter, open_run
from execplan.execution.engine.recovery.rollback_plan import (
    RollbackPlan,
    continue_rollback,
    ensure_can_roll_back,
    find_step_id,
    plan_rollback,
    steps_of_all_revisions,
)
from execplan.execution.engine.run_lock import acquire_run_lock, run_lock_holder
from execplan.execution.engine.run_observer import RollbackResult, RunObserver
from execplan.execution.engine.run_records import record_builder
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_summary import load_begun_run
from execplan.execution.engine.run_state import Attempt, RunState
from execplan.execution.engine.step_executor import read_interrupted_result
from execplan.execution.engine.steps.run_context import RunContext, make_inspection_context
from execplan.execution.engine.telemetry.span_sending import send_spans
from execplan.execution.engine.workspace.file_restore import RETRY_HINT, RestoreResult, ensure_restorable, restore
from execplan.execution.execution_plan import Step
from execplan.execution.world import ABSENT, FOLDER


def rollback(
    run_paths: RunPaths,
    *,
    step: str | None,
    automatic: str,
    observer: RunObserver,
    options: WriteOptions,
    journal_writer: JournalWriter | None = None,
) -> RollbackResult:
    """Undo the changes of a run, or of one of its steps.

    `automatic` is the cause of a rollback that no one requested. `journal_writer` is that of an active run, whose lock
    is held; its owner files the run. An interrupted rollback is finished first. Raises ExecplanError before anything is
    touched, or if a disk fails.
    """
    project, ref = run_paths.project, run_paths.ref
    if journal_writer is not None:
        with _name_run_in_hint(run_paths, step):
            return _RollbackExecution(run_paths, journal_writer, observer).execute(step, automatic)
    require_existing(project)
    ensure_not_archived(project, ref)
    if options.dry_run:
        with _name_run_in_hint(run_paths, step, " --dry-run"):
            return _preview_rollback(run_paths, step, observer)
    options.prepare_commit(project)
    plan_before = plan_store.read_bytes(project, ref.path)
    with (
        _name_run_in_hint(run_paths, step),
        add_hint_on_error(f"then finish it: execplan rollback {run_paths.number} -p {ref.shell_name}"),
        open_run(run_paths, observer, f"rollback of run {run_paths.id} of {ref.id}") as opened_writer,
    ):
        rolled_back = _RollbackExecution(run_paths, opened_writer, observer).execute(step, automatic)
        record_builder.file_record(run_paths, opened_writer)
        rolled_back = rolled_back._replace(warnings=(*opened_writer.warnings, *rolled_back.warnings))
        if options.should_commit(project):
            commit = record_builder.commit_run(run_paths, "rollback", f"roll back run {run_paths.id}", plan_before)
            rolled_back = rolled_back._replace(commit=commit.digest, warnings=(*rolled_back.warnings, *commit.warnings))
    trace_warnings = send_spans(run_paths, opened_writer)
    return rolled_back._replace(warnings=(*rolled_back.warnings, *trace_warnings))


@contextmanager
def _name_run_in_hint(run_paths: RunPaths, step: str | None, option: str = "") -> Iterator[None]:
    """Add the run and the option to the command in an error's retry hint."""
    ref = run_paths.ref
    try:
        yield
    except ExecplanError as error:
        if error.hint == RETRY_HINT:
            error.hint += f" {run_paths.id} -p {ref.shell_name}" + (f" --step {step}" if step else "") + option
        raise


class _RollbackExecution:
    """A rollback of one run; requires the run lock."""

    def __init__(self, run_paths: RunPaths, journal_writer: JournalWriter, observer: RunObserver) -> None:
        self.run_paths, self.journal_writer = run_paths, journal_writer
        self.run_state = journal_writer.run_state
        self.steps = steps_of_all_revisions(run_paths, journal_writer.run_state)
        self.context = make_inspection_context(run_paths, journal_writer.run_state, observer)
        self.is_begun = False

    def execute(self, step: str | None, automatic: str) -> RollbackResult:
        """Roll back the run, or one of its steps. Raises ExecplanError."""
        only_step = find_step_id(self.run_paths, self.run_state, self.steps, step)
        if self.run_state.open_rollback is not None:
            self.is_begun = True
            rolled_back = self._restore(
                continue_rollback(self.run_state, self.run_state.open_rollback, self.steps), automatic
            )
            if rolled_back.is_whole_run or (only_step is not None and only_step in rolled_back.steps):
                return rolled_back
        ensure_can_roll_back(self.run_paths, self.run_state, only_step)
        features.load(rare_features.LOST_SERVICES)(self.context, self.journal_writer)
        for name, attempt in self.run_state.open_attempts():
            _remove_leftovers(self.context, attempt.before)
            self.journal_writer.write(
                RESULT, **_interrupted_fields(self.context, self.steps[name], attempt, self.run_state, keep=True)
            )
        return self._restore(
            plan_rollback(self.run_state, self.steps, only_step, self.context.workspace.state), automatic
        )

    def _restore(self, rollback_plan: RollbackPlan, automatic: str) -> RollbackResult:
        """Restore the files, then reopen the tasks, with journal entries about both. Raises ExecplanError."""

        def write_restored(part: RestoreResult) -> None:
            displaced = dict(part.backed_up)
            self.journal_writer.write(
                RESTORED, restored=list(part.restored), removed=list(part.removed), displaced=displaced
            )

        restored_files = restore(
            self.context.workspace,
            self.context.store,
            rollback_plan.changes,
            rollback_plan.folders,
            write_restored,
            completed_paths=rollback_plan.restored_paths,
            is_retry=rollback_plan.is_retry,
            on_begin=lambda: self._write_rollback(rollback_plan, automatic),
        )
        rolled_back, warnings = (
            _describe_rollback(self.context, rollback_plan, restored_files),
            self._reopen(rollback_plan),
        )
        self.journal_writer.write(
            ROLLED_BACK,
            steps=list(rollback_plan.steps),
            restored=list(restored_files.restored),
            removed=list(restored_files.removed),
            whole=rollback_plan.is_whole_run,
        )
        self.is_begun = False
        return rolled_back._replace(warnings=tuple(warnings))

    def _write_rollback(self, rollback_plan: RollbackPlan, automatic: str) -> None:
        """Record the start of the rollback; first record the end of a run that has none."""
        if self.is_begun:
            return
        if rollback_plan.is_whole_run and self.run_state.status not in states.ENDED_RUN_STATES:
            seconds, reason = self.run_state.seconds or 0, "it was not finished"
            self.journal_writer.write(ENDED, status=states.FAILED, cause="cancellation", reason=reason, seconds=seconds)
        self.journal_writer.write(
            ROLLBACK,
            steps=list(rollback_plan.steps),
            automatic=automatic,
            user=author.system_login(),
            session=author.session_id(),
            changes=[change_json(change) for change in rollback_plan.changes],
            folders=list(rollback_plan.folders),
            undone_not=list(rollback_plan.not_undone),
            whole=rollback_plan.is_whole_run,
        )

    def _reopen(self, rollback_plan: RollbackPlan) -> list[str]:
        """Reopen the tasks that the steps checked off; return a warning for each one that could not be reopened."""
        from execplan.execution.engine import ticks

        warnings = []
        for step, task, transcript in rollback_plan.ticks:
            tick_result = ticks.reopen_task(
                self.run_paths.project, self.run_paths.ref, self.run_state.document, step, task, transcript
            )
            if tick_result.warning:
                warnings.append(tick_result.warning)
            else:
                self.journal_writer.write(REOPENED, step=step, task=task)
        return warnings


def _preview_rollback(run_paths: RunPaths, step: str | None, observer: RunObserver) -> RollbackResult:
    """Preview the rollback of an inactive run. Raises ExecplanError if the rollback would."""
    if run_lock_holder(run_paths.project):
        with acquire_run_lock(run_paths.project, "rollback"):  # raises an error that names the lock owner
            pass
    _, run_state = load_begun_run(run_paths)
    steps = steps_of_all_revisions(run_paths, run_state)
    only_step = find_step_id(run_paths, run_state, steps, step)
    context = make_inspection_context(run_paths, run_state, observer)
    if run_state.open_rollback is not None:
        rollback_plan = continue_rollback(run_state, run_state.open_rollback, steps)
    else:
        ensure_can_roll_back(run_paths, run_state, only_step)
        for name, attempt in run_state.open_attempts():
            performed = attempt_result_from_entry(
                _interrupted_fields(context, steps[name], attempt, run_state, keep=False)
            )
            run_state.attempts[name][-1] = attempt._replace(performed=performed)
        rollback_plan = plan_rollback(run_state, steps, only_step, context.workspace.state)
    ensure_restorable(
        context.workspace,
        context.store,
        rollback_plan.changes,
        rollback_plan.folders,
        completed_paths=rollback_plan.restored_paths,
        is_retry=rollback_plan.is_retry,
    )
    removed_paths = [change.path for change in rollback_plan.changes if change.before.kind == ABSENT]
    restored_paths = [change.path for change in rollback_plan.changes if change.before.kind != ABSENT]
    from execplan.execution.engine.workspace.file_restore import RestoreResult

    return _describe_rollback(
        context, rollback_plan, RestoreResult(tuple(restored_paths), (*removed_paths, *rollback_plan.folders), ())
    )


def _interrupted_fields(
    context: RunContext, step: Step, attempt: Attempt, run_state: RunState, *, keep: bool
) -> dict[str, Any]:
    """Return the fields of the entry that ends an attempt whose result was never reported. Raises ExecplanError."""
    if run_state.is_agent_run:
        end_unreported = features.load(rare_features.UNREPORTED_RESULT)
        performed = end_unreported(context, step, attempt, run_state, keep=keep)
    else:
        performed = read_interrupted_result(context, step, attempt)
    return {"step": step.id, "attempt": attempt.number, **attempt_result_json(performed)}


def _describe_rollback(
    context: RunContext, rollback_plan: RollbackPlan, restored_files: RestoreResult
) -> RollbackResult:
    """Build the result of a rollback for reporting."""
    leftover_folders = [f"{folder}: it contains something else" for folder in restored_files.remaining_folders]
    backup_lines = [
        f"{path}: {context.run_paths.project.display_path(context.store.path(digest))}"
        for path, digest in restored_files.backed_up
    ]
    return RollbackResult(
        context.run_paths.id,
        rollback_plan.steps,
        restored_files.restored,
        restored_files.removed,
        tuple([task for _, task, _ in rollback_plan.ticks]),
        tuple(backup_lines),
        (*rollback_plan.not_undone, *leftover_folders),
        rollback_plan.is_whole_run,
    )


def _remove_leftovers(context: RunContext, paths: Collection[str]) -> None:
    """Remove the temporary files that a killed writer left next to the files of a step."""
    for path in paths:
        if context.workspace.state(path.rpartition("/")[0] or ".").kind == FOLDER:
            context.workspace.remove_temporary(path)
