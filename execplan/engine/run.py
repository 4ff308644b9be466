"""Run of an execution plan: executes the approved steps one by one, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.approvals import approval_status
from execplan.edits.plan_writer import ensure_not_archived
from execplan.engine import replay, run_setup
from execplan.engine.attempt_pool import AttemptPool
from execplan.engine.dry_run import preview_run
from execplan.engine.journal.journal_writer import JournalWriter
from execplan.engine.resume import continue_with_revision
from execplan.engine.run_lock import acquire_run_lock
from execplan.engine.run_loop import RunLoop
from execplan.engine.run_questions import Prompter
from execplan.engine.run_records import run_directories
from execplan.engine.run_records.evidence_copies import open_journal
from execplan.engine.run_session import finish_session, start_session
from execplan.engine.run_state import RunState
from execplan.engine.schedule import Schedule
from execplan.engine.signal_handlers import SignalHandlers
from execplan.engine.step_executor import StepExecutor
from execplan.errors import BUSY, ExecplanError
from execplan.execution.program_lookup import describe_changed_programs
from execplan.project.project_discovery import require_existing

if TYPE_CHECKING:
    from execplan.edits.plan_writer import WriteOptions
    from execplan.engine.run_observer import FinishedRun, RunObserver, RunOptions
    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

__all__ = ["preview_run", "run"]


def run(
    project: Project,
    ref: PlanRef,
    run_options: RunOptions,
    observer: RunObserver,
    options: WriteOptions,
    *,
    executor: StepExecutor | None = None,
) -> FinishedRun:
    """Run the execution plan of a plan, if approved. Raises ExecplanError if nothing was begun, or if a disk fails."""
    require_existing(project)
    ensure_not_archived(project, ref)
    options.prepare_commit(project)
    run_paths = run_directories.next_run(project, ref)
    with acquire_run_lock(project, f"run {run_paths.id} of {ref.id}"):
        _ensure_not_overtaken(project, ref, run_paths)
        return _run_to_end(project, ref, run_paths, run_options, observer, options, executor or StepExecutor())


def _ensure_not_overtaken(project: Project, ref: PlanRef, run_paths: RunPaths) -> None:
    """Raise ExecplanError if another run of the plan began after `run_paths` was numbered and before the lock."""
    if run_directories.next_run(project, ref).number != run_paths.number:
        message = f"another run of {ref.id} was begun at this moment"
        raise ExecplanError("run-busy", message, exit=BUSY, hint=f"see how it stands: execplan runs {ref.shell_name}")
    run_setup.ensure_no_unfinished_run(project, ref)


def _run_to_end(
    project: Project,
    ref: PlanRef,
    run_paths: RunPaths,
    run_options: RunOptions,
    observer: RunObserver,
    options: WriteOptions,
    executor: StepExecutor,
) -> FinishedRun:
    """Begin a run and run it to its end; the caller has the run lock."""
    from execplan.engine.audit_log.log_writer import AuditLog

    status = approval_status.require_approved_status(project, ref)
    assert status.candidate is not None  # a plan with an approval always compiles
    assert status.approval is not None
    document = status.candidate.current_plan.document
    run_setup.ensure_not_agent_mode(document, ref)
    step_ids = run_setup.select_step_ids(document, run_options)
    replayed_run = (
        replay.find(project, ref, run_options.replays, status.candidate.binding) if run_options.replays else None
    )
    run_options = run_options._replace(replays=replayed_run.run_paths.id if replayed_run is not None else "")
    context = run_setup.make_context(project, ref, run_paths, status.candidate, observer, run_options.seconds)
    schedule = Schedule(document, step_ids, lambda path: executor.path_exists(context, path))
    permit = run_setup.permit_for(status, schedule)
    run_setup.ensure_steps_approved(
        permit, status.approval, [step for step in document.steps if step.id in schedule.chosen]
    )
    program_differences = describe_changed_programs(
        status.approval.binding.programs or {}, status.candidate.binding.programs or {}
    )
    warnings = run_setup.show_warnings(context, step_ids, program_differences)
    ledger = AuditLog(project, ref)
    ledger.update_anchor()
    ledger.can_restore = True
    run_setup.create_run(project, ref, run_paths, status)
    with open_journal(run_paths) as journal:
        journal_writer = JournalWriter(run_paths.id, journal, RunState(document), ledger, context.redaction, observer)
        session = start_session(project, ref, run_paths, status.candidate.policy, journal_writer, options)
        warnings += schedule.unchosen_dependencies()
        observer.begin(run_paths.id, [step for step in document.steps if step.id in schedule.chosen])
        run_setup.write_begun_entry(journal_writer, context, status, step_ids, run_options)
        ledger.update_anchor()
        jobs = 1 if document.constraints.require_sequential else run_options.jobs
        with (
            run_setup.add_resume_hint(run_paths, ref),
            AttemptPool(context, journal_writer, executor, permit, jobs) as attempt_pool,
            SignalHandlers(context.stop, attempt_pool.wake) as signals,
        ):
            stop_reason = RunLoop(
                attempt_pool, journal_writer, schedule, Prompter(journal_writer, signals, context.stop), jobs
            ).run_until_stopped()
            finished = finish_session(
                session, schedule, stop_reason, context.stop.signal, [*warnings, *attempt_pool.warnings]
            )
        finished = continue_with_revision(session, finished, jobs, executor, attempt_pool.deadline)
    if replayed_run is None:
        return finished
    return finished._replace(differences=replay.differences(replayed_run.run_state, journal_writer.run_state))
