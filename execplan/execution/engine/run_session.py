"""A session of a run: how it begins, and what is recorded and follows at its end, such as a rollback, a notification and a commit."""

from __future__ import annotations

from time import monotonic

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CONFLICT, INPUT, ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.timestamps import seconds_since
from execplan.execution import states
from execplan.execution.approvals import git_triggers
from execplan.execution.approvals.git_triggers import TriggerSnapshot
from execplan.execution.engine import stop_reasons
from execplan.execution.engine.journal.journal_entries import ASK, ENDED, INTERRUPTED, PAUSED
from execplan.execution.engine.journal.journal_writer import JournalWriter
from execplan.execution.engine.notification import notify
from execplan.execution.engine.run_observer import FinishedRun, RollbackResult
from execplan.execution.engine.run_records import record_builder
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import Question
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.stop_reasons import StopReason
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.policy import Policy


class RunSession(NamedTuple):
    """One session of a run, from its beginning or a resume until it stops."""

    run_paths: RunPaths
    policy: Policy
    journal_writer: JournalWriter
    options: WriteOptions
    plan_before: bytes
    """Content of the plan file when the session began."""
    started_at: float
    """When the session began, by time.monotonic()."""
    triggers: TriggerSnapshot
    """What Git runs automatically, as it was when the session began; only read if the session will commit."""


def start_session(
    run_paths: RunPaths, policy: Policy, journal_writer: JournalWriter, options: WriteOptions
) -> RunSession:
    """Start a run session now. Raises ExecplanError."""
    project = run_paths.project
    journal_writer.observer.stop_rolls_back = stop_reasons.is_rolled_back_after(
        stop_reasons.CANCELLATION, policy, journal_writer.run_state
    )
    initial_triggers = git_triggers.take_snapshot(project) if options.should_commit(project) else {}
    plan_before = plan_store.read_bytes(project, run_paths.ref.path)
    return RunSession(run_paths, policy, journal_writer, options, plan_before, monotonic(), initial_triggers)


def finish_session(
    session: RunSession, schedule: Schedule | None, stop_reason: StopReason, signal: str, warnings: list[str]
) -> FinishedRun:
    """Record how the session ended, with everything that follows from it. Raises ExecplanError."""
    journal_writer, run_state = session.journal_writer, session.journal_writer.run_state
    question, rolled_back = None, None
    warnings[:0] = journal_writer.warnings
    warnings += journal_writer.repair(session.run_paths)
    if stop_reason.kind == stop_reasons.REPLAN:
        stop_reason = _replan(session, stop_reason, warnings)
    if stop_reason.kind == stop_reasons.COVERED:
        return FinishedRun(session.run_paths.id, run_state.status, warnings=tuple(warnings), continues=True)
    if stop_reason.kind == stop_reasons.SIGNAL:
        journal_writer.write(INTERRUPTED, signal=signal, seconds=_elapsed_seconds(session))
    elif stop_reason.question is not None:
        question = stop_reason.question
        journal_writer.write(
            PAUSED,
            why=question.why,
            step=question.step or None,
            question=question.words,
            seconds=_elapsed_seconds(session),
        )
    else:
        rolled_back = _write_end(session, schedule, stop_reason, warnings)
    commit = file_run(session, question, warnings)
    is_failed = stop_reason.kind == stop_reasons.FAILED
    return FinishedRun(
        session.run_paths.id,
        run_state.status,
        question,
        signal if stop_reason.kind == stop_reasons.SIGNAL else "",
        stop_reason.cause if is_failed else "",
        stop_reason.reason if is_failed else "",
        rolled_back,
        warnings=tuple(warnings),
        commit=commit,
    )


def finish_failed_run(session: RunSession) -> FinishedRun | None:
    """Finish a run that was killed after it failed; return None if nothing is left to do. Raises ExecplanError."""
    run_state = session.journal_writer.run_state
    if run_state.end_entry is None or run_state.status != states.FAILED:
        return None
    cause, reason = run_state.end_entry.fields["cause"], run_state.end_entry.fields["reason"]
    if not stop_reasons.is_rolled_back_after(cause, session.policy, run_state) or record_builder.is_record_current(
        session.run_paths, run_state.document, run_state
    ):
        return None
    warnings: list[str] = []
    rolled_back = _roll_back(session, cause, warnings)
    commit = file_run(session, None, warnings)
    return FinishedRun(
        session.run_paths.id,
        run_state.status,
        None,
        "",
        cause,
        reason,
        rolled_back,
        warnings=tuple(warnings),
        commit=commit,
    )


def _replan(session: RunSession, stop_reason: StopReason, warnings: list[str]) -> StopReason:
    """Make a new revision after a failure. If that is not possible, the run has failed.

    The run continues with a revision that an approval covers, and otherwise waits for one. If the same step led to a
    revision before, another one would not help: the run asks what to do.
    """
    from execplan.execution.engine.replanning.run_replan import replan_run

    if any([entry.fields.get("step") == stop_reason.step for entry in session.journal_writer.run_state.replans]):
        question = Question(ASK, stop_reason.step, stop_reason.reason)
        return stop_reason._replace(kind=stop_reasons.PAUSED, question=question)
    try:
        replan_result = replan_run(
            session.run_paths,
            reason=stop_reason.reason,
            failed=[stop_reason.step],
            information=None,
            observer=session.journal_writer.observer,
            options=WriteOptions(commit=False),
            journal_writer=session.journal_writer,
        )
    except ExecplanError as error:
        if error.exit not in (INPUT, CONFLICT):
            raise
        warnings.append(f"it could not be replanned: {error.message}")
        return stop_reason._replace(kind=stop_reasons.FAILED)
    warnings += replan_result.warnings
    if replan_result.coverage.derived_approval is not None:
        return stop_reason._replace(kind=stop_reasons.COVERED)
    return stop_reason._replace(kind=stop_reasons.PAUSED, question=replan_result.question)


def _elapsed_seconds(session: RunSession) -> float:
    """Return the seconds that the run has taken in all its sessions; for an agent's run, by the wall clock."""
    run_state = session.journal_writer.run_state
    if run_state.is_agent_run:
        return seconds_since(run_state.begin_fields["at"])
    return round(monotonic() - session.started_at + (session.journal_writer.run_state.seconds or 0), 3)


def _write_end(
    session: RunSession, schedule: Schedule | None, stop_reason: StopReason, warnings: list[str]
) -> RollbackResult | None:
    """Record the end of the run. If it failed, roll it back if the policy requires that."""
    journal_writer = session.journal_writer
    for transition in schedule.blocked_steps(journal_writer.run_state) if schedule is not None else ():
        journal_writer.write(transition.kind, step=transition.step, reason=transition.detail)
    is_completed = stop_reason.kind == stop_reasons.DONE and all(
        [step_status in states.SUCCESS_STATES for step_status in journal_writer.run_state.status_of.values()]
    )
    status = states.COMPLETED if is_completed else states.FAILED
    journal_writer.write(
        ENDED, status=status, cause=stop_reason.cause, reason=stop_reason.reason, seconds=_elapsed_seconds(session)
    )
    return None if is_completed else _roll_back(session, stop_reason.cause, warnings)


def _roll_back(session: RunSession, cause: str, warnings: list[str]) -> RollbackResult | None:
    """Roll back a failed run if the policy requires that."""
    if not stop_reasons.is_rolled_back_after(cause, session.policy, session.journal_writer.run_state):
        return None
    from execplan.execution.engine.recovery.rollback import rollback

    try:
        return rollback(
            session.run_paths,
            step=None,
            automatic=cause,
            observer=session.journal_writer.observer,
            options=WriteOptions(commit=False),
            journal_writer=session.journal_writer,
        )
    except ExecplanError as error:
        details = f" ({'; '.join(error.candidates)})" if error.candidates else ""
        warnings.append(f"it could not be rolled back automatically: {error.message}{details}")
        return None


def file_run(session: RunSession, question: Question | None, warnings: list[str]) -> str | None:
    """Save the record, move the audit log's anchor, send the notification and commit; return the commit."""
    journal_writer, run_state = session.journal_writer, session.journal_writer.run_state
    final_record = record_builder.file_record(session.run_paths, journal_writer)
    is_ended = run_state.status in states.ENDED_RUN_STATES
    if is_ended:
        BackupStore(session.run_paths.project).purge(session.policy.backup_days)
    if is_ended or question is not None:
        warnings += notify(session.policy, session.run_paths, final_record, question, journal_writer.redaction)
    if not is_ended or not session.options.should_commit(session.run_paths.project):
        return None
    if changed_triggers := git_triggers.changed_triggers(session.run_paths.project, session.triggers):
        trigger_names = f"{', '.join(changed_triggers[:3])}{' and more' if changed_triggers[3:] else ''}"
        message = f"not committed: the run has changed what git runs automatically: {trigger_names}"
        warnings.append(f"{message}; review it, then: execplan commit {session.run_paths.ref.shell_name}")
        return None
    summary = f"run {session.run_paths.id}: {run_state.status.replace('_', ' ')}"
    commit = record_builder.commit_run(session.run_paths, "run", summary, session.plan_before)
    warnings += commit.warnings
    return commit.digest
