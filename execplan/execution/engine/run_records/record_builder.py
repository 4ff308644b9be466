"""The record of a run, built from its document and its journal, for readers who do not read journals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from execplan.core.clock import now
from execplan.core.documents.document_io import document_bytes
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.sync_group import SyncGroup
from execplan.core.git.git_commit import CommitResult
from execplan.core.plan_store import plan_store
from execplan.execution import states
from execplan.execution.engine.journal.journal_entries import StateChange, change_kind
from execplan.execution.engine.journal.journal_writer import JournalWriter
from execplan.execution.engine.run_records.evidence_copies import sync_transcripts
from execplan.execution.engine.run_records.run_directories import JOURNAL, RECORD, RUNS, RunPaths, is_run_id, run_number
from execplan.execution.engine.run_state import Attempt, RunState
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.run_record import Checks, Record, Replanned, Resources, StepRecord

_MAX_REASON_LENGTH = 2000
_MAX_NAME_LENGTH = 200
_LIMIT = 64 << 20


def build_record(run_paths: RunPaths, document: ExecutionPlan, run_state: RunState) -> Record:
    """Build the record of a run; its journal must contain the first entry.

    No time is later than now, even if the clock was set back; the journal has the times as they were written.
    """
    begin_fields, approval_fields = run_state.begin_fields, run_state.approval_fields
    status: Any = run_state.status
    is_ended = run_state.status in states.ENDED_RUN_STATES
    steps = tuple([_step_record(step, run_state) for step in document.steps])
    return Record(
        run_id=run_paths.id,
        plan_id=document.plan_id,
        revision=document.revision,
        document=run_state.document_digest,
        approval=approval_fields["approval"],
        mode="agent" if run_state.is_agent_run else document.mode,
        status=status,
        approver=None if approval_fields["how"] == "policy" else _clean_name(approval_fields["approver"]),
        user=_clean_name(begin_fields["user"]) or "unknown",
        session=_clean_name(begin_fields["session"]),
        started=_not_after_now(begin_fields["at"]),
        ended=_not_after_now(run_state.end_entry.at) if is_ended and run_state.end_entry is not None else None,
        duration_s=run_state.seconds if is_ended else None,
        steps=steps,
        completed_steps=tuple(run_state.step_numbers(states.COMPLETED)),
        failed_steps=tuple(run_state.step_numbers(states.FAILED)),
        resources=_measure_resources([attempt for attempts in run_state.attempts.values() for attempt in attempts]),
        validation=_merge_checks([step_record.validation for step_record in steps]),
        history=tuple([_replan_record(replan_entry.fields, replan_entry.at) for replan_entry in run_state.replans]),
        context={},
    )


def file_record(run_paths: RunPaths, journal_writer: JournalWriter) -> Record:
    """Save the record of a run, sync the evidence that does not follow from its journal, and move the audit log's anchor.

    The caller holds the lock of runs. Raises ExecplanError.
    """
    record = build_record(run_paths, journal_writer.run_state.document, journal_writer.run_state)
    with SyncGroup(is_replaceable=True):  # it follows from the journal, and lost_evidence.py restores it
        save_record(run_paths, record)
    sync_transcripts(run_paths)
    journal_writer.audit_log.update_anchor()
    return record


def commit_run(run_paths: RunPaths, command: str, summary: str, plan_before: bytes) -> CommitResult:
    """Commit a plan and the artifacts of its runs. Raises ExecplanError."""
    from execplan.core.edits.plan_commit import commit_paths

    project, ref = run_paths.project, run_paths.ref
    paths = [ref.real_path, project.plan_artifacts_dir(ref.path, archived=ref.archived)]
    title = plan_store.parse(project, plan_store.read_bytes(project, ref.path)).title
    return commit_paths(project, ref.id, paths, command, summary, {ref.real_path: plan_before}, title)


def save_record(run_paths: RunPaths, record: Record) -> None:
    """Write a record to the run's directory and replace an older one. Raises ExecplanError."""
    new = document_bytes(record)
    if atomic_files.create(run_paths.record, new):
        return
    old = file_access.read(run_paths.record, _LIMIT)[0]
    if old != new:
        atomic_files.replace_if_unchanged(run_paths.record, old, new)


def is_record_current(run_paths: RunPaths, document: ExecutionPlan, run_state: RunState) -> bool:
    """Return whether the saved record matches the run's end; False if it cannot be read."""
    try:
        saved_record = read_record(run_paths)
    except ExecplanError:
        return False
    current = build_record(run_paths, document, run_state)
    return saved_record is not None and (saved_record.status, saved_record.ended, saved_record.duration_s) == (
        current.status,
        current.ended,
        current.duration_s,
    )


def read_record(run_paths: RunPaths) -> Record | None:
    """Read the saved record; None if there is none. Raises ExecplanError."""
    return _load_record(run_paths.record)


def read_last_run(folder: str) -> dict[str, Any] | None:
    """Return the last run with its steps; None if it has not ended, or if its record can't be read.

    `folder` is the directory of the plan's artifacts.
    """
    directory = os.path.join(folder, RUNS)
    runs = [
        (run_number(name), os.path.join(directory, name))
        for name in plan_store.list_entries(directory)
        if is_run_id(name)
    ]
    records = [(number, record) for number, run in runs if (record := read_valid_record(run)) is not None]
    if not records:
        return None
    last_number, record = max(records, key=lambda pair: (pair[0], pair[1].started or ""))
    if any([number > last_number and _has_begun(run) for number, run in runs]):  # it was killed: it has no record
        return None
    if record.status not in states.ENDED_RUN_STATES:
        return None
    steps = [{"id": step.id, "status": step.status} for step in record.steps]
    fields = {"id": record.run_id, "status": record.status, "document": record.document, "approval": record.approval}
    return {**fields, "steps": steps}


def _load_record(path: str) -> Record | None:
    from execplan.core.documents.document_io import load_document

    return load_document(file_access.read(path, _LIMIT)[0], Record, path) if os.path.lexists(path) else None


def read_valid_record(folder: str) -> Record | None:
    """Return the record in the directory of a run; None if it is missing, a link or damaged."""
    path = os.path.join(folder, RECORD)
    try:
        return None if os.path.islink(path) else _load_record(path)
    except ExecplanError:
        return None


def _has_begun(folder: str) -> bool:
    """Return whether the journal has an entry; the first line is incomplete if the process was killed while it began."""
    journal = os.path.join(folder, JOURNAL)
    return os.path.isfile(journal) and b"\n" in file_access.read(journal, _LIMIT)[0]


def _step_record(step: Step, run_state: RunState) -> StepRecord:
    """Return the record of a step: its current status, and its attempts since a person last had it run."""
    status: Any = run_state.status_now(step.id)
    attempts = run_state.attempts.get(step.id, [])
    recent_attempts = [attempt for attempt in attempts if attempt.resume_count == attempts[-1].resume_count]
    performed = recent_attempts[-1].performed if recent_attempts else None
    return StepRecord(
        number=step.number,
        id=step.id,
        status=status,
        attempts=len(recent_attempts),
        max_attempts=max(1 + step.on_failure.max_retries, len(recent_attempts)),
        started=_not_after_now(recent_attempts[0].began) if recent_attempts else None,
        ended=_not_after_now(recent_attempts[-1].ended) if performed is not None else None,
        duration_s=performed.seconds if performed is not None else None,
        exit=performed.exit if performed is not None and 0 <= (performed.exit or 0) <= 255 else None,
        signal=performed.signal or None if performed is not None else None,
        reason=_shorten_reason(run_state.reasons.get(step.id, "")) if status in states.STATES_WITH_REASON else None,
        worker=_clean_name(recent_attempts[-1].worker) if recent_attempts else None,
        resources=_measure_resources(attempts),
        validation=_attempt_checks(performed.checks) if performed is not None else Checks(),
    )


def _measure_resources(attempts: Sequence[Attempt]) -> Resources:
    """Return the resources that attempts used, with the changes of those that were not immediately rolled back."""
    attempt_results = [performed for attempt in attempts for _, performed in attempt.results]
    kept_results = [
        performed
        for _, performed in sorted(
            [result for attempt in attempts if not attempt.retaken for result in attempt.results],
            key=lambda result: result[0],
        )
    ]
    changes = _net_changes([change for attempt_result in kept_results for change in attempt_result.changes])
    kinds = [change_kind(change) for change in changes]
    return Resources(
        files_created=kinds.count("created"),
        files_modified=kinds.count("modified"),
        files_deleted=kinds.count("deleted"),
        lines_added=sum([change.added for change in changes]),
        lines_removed=sum([change.removed for change in changes]),
        cpu_s=float(sum([attempt_result.cpu_s for attempt_result in attempt_results])),
        peak_memory_bytes=max([attempt_result.peak_memory_bytes for attempt_result in attempt_results], default=0),
    )


def _net_changes(changes: Iterable[StateChange]) -> list[StateChange]:
    """Return one change for each path, from its first to its last state; none if these are the same."""
    changes_by_path: dict[str, StateChange] = {}
    for change in changes:
        earlier = changes_by_path.get(change.path)
        if earlier is None:
            changes_by_path[change.path] = change
        else:
            added, removed = earlier.added + change.added, earlier.removed + change.removed
            changes_by_path[change.path] = earlier._replace(after=change.after, added=added, removed=removed)
    return [change for change in changes_by_path.values() if change.before != change.after]


def _attempt_checks(checks: Any) -> Checks:
    """Return the checks of an attempt in the form of a record."""
    return Checks(
        pre_checks=checks.pre, post_checks=checks.post, tests_run=checks.tests_run, tests_passed=checks.tests_passed
    )


def _merge_checks(step_checks: Sequence[Checks]) -> Checks:
    """Return the checks of all steps: failed if one has failed, passed if some have passed and none has failed."""
    return Checks(
        pre_checks=_worst_outcome([checks.pre_checks for checks in step_checks]),
        post_checks=_worst_outcome([checks.post_checks for checks in step_checks]),
        tests_run=sum([checks.tests_run for checks in step_checks]),
        tests_passed=sum([checks.tests_passed for checks in step_checks]),
    )


def _worst_outcome(outcomes: Sequence[str]) -> Any:
    return next((outcome for outcome in ("failed", "passed") if outcome in outcomes), "not_run")


def _replan_record(fields: dict[str, Any], timestamp: str) -> Replanned:
    return Replanned(
        revision=fields["revision"],
        at=_not_after_now(timestamp),
        reason=_shorten_reason(fields["reason"]) or "no reason given",
        completed_steps=tuple(fields["completed"]),
        failed_steps=tuple(fields["failed"]),
    )


def _not_after_now(timestamp: str) -> str:
    return min(timestamp, f"{now():%Y-%m-%dT%H:%M:%SZ}")


def _shorten_reason(text: str) -> str | None:
    return text[:_MAX_REASON_LENGTH].encode("utf-8", "backslashreplace").decode("utf-8") or None


def _clean_name(name: str | None) -> str | None:
    """Return a name in the form of a document: printable, trimmed and limited in length; None if empty."""
    printable_name = "".join([char if char.isprintable() else " " for char in " ".join((name or "").split())])
    return printable_name[:_MAX_NAME_LENGTH].strip() or None
