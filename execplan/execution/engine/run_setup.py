"""Setup of a run: the context of its steps, its directories with the approval, and its first journal entry."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from execplan.core.documents.document_io import document_bytes
from execplan.core.files import atomic_files, file_access
from execplan.core.files.sync_group import SyncGroup, UnsyncedFiles
from execplan.core.git.git_directory import head_commit
from execplan.core.plan_store import author
from execplan.core.project import project_state
from execplan.execution.approval_document import Approval
from execplan.execution.approvals import approval_registry, artifact_store
from execplan.execution.approvals.approved_plan import ApprovedPlan
from execplan.execution.engine import run_preconditions
from execplan.execution.engine.command_warnings import command_warnings
from execplan.execution.engine.commands.command_environment import make_redaction
from execplan.execution.engine.error_hints import add_hint_on_error
from execplan.execution.engine.journal.journal_entries import BEGUN, RESUMED
from execplan.execution.engine.journal.journal_writer import JournalWriter
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.steps.run_context import RunContext, create_context
from execplan.execution.execution_plan import Step


def make_context(
    run_paths: RunPaths, approved_plan: ApprovedPlan, observer: RunObserver, seconds: int | None
) -> RunContext:
    """Create the context that the steps of a run share. Raises ExecplanError."""
    from execplan.execution.engine.commands.command_sandbox import find_sandbox

    document, policy = approved_plan.document, approved_plan.policy
    sandbox = find_sandbox(run_paths.project, policy)[0]
    limits = [policy.seconds, document.constraints.max_duration_s, seconds]
    deadline = monotonic() + min([limit for limit in limits if limit is not None])
    return create_context(run_paths, document, policy, sandbox, observer, deadline)


def show_warnings(context: RunContext, steps: Sequence[Step], program_differences: Sequence[str]) -> list[str]:
    """Show warnings about the steps that are to run, and return those that the observer could not show.

    `program_differences` lists the programs that differ from the approved ones.
    """
    warnings = [
        *command_warnings(context.run_paths.project, context.policy, steps),
        *map(run_preconditions.WARNING.format, program_differences),
    ]
    return [warning for warning in warnings if not context.observer.warn(warning)]


def create_run(run_paths: RunPaths, approved_plan: ApprovedPlan) -> None:
    """Create the directories of a new run with the document and the approval, which no run may have used.

    Only the copies in the state directory are synced, because the artifacts are repaired from them. Raises
    ExecplanError.
    """
    project, ref = run_paths.project, run_paths.ref
    for approval in approved_plan.approvals:
        approval_registry.ensure_unused(project, approval.id)
    with add_hint_on_error(
        f"nothing was done, and the approval is still valid; start again: execplan run {ref.shell_name}"
    ):
        with SyncGroup(is_replaceable=True):
            atomic_files.make_directory(run_paths.folder, within=project.root)
            atomic_files.create(
                run_paths.artifact_path(artifact_store.PLAN_FILE_NAME),
                approved_plan.candidate.current_plan.data,
                within=project.root,
            )
            for approval in approved_plan.approvals:
                _keep_approval(run_paths, approval)
        create_state_directory(run_paths)


def create_state_directory(run_paths: RunPaths) -> None:
    """Create the run's uncommitted state directory with a copy of the evidence, and note which plan the run is of.

    Raises ExecplanError.
    """
    with SyncGroup():
        project_state.make_state_dir(run_paths.project, "runs")
        evidence_copies.keep_documents(run_paths)
        atomic_files.create(
            os.path.join(project_state.make_plan_state_dir(run_paths.project, run_paths.ref.path), run_paths.id), b""
        )


def use_approval(run_paths: RunPaths, approved_plan: ApprovedPlan) -> None:
    """Use the approvals of a plan for the run from now on, and keep their files next to the earlier ones.

    Raises ExecplanError.
    """
    _mark_used(run_paths, approved_plan)
    for approval in approved_plan.approvals:
        _keep_approval(run_paths, approval)
    evidence_copies.keep_documents(run_paths)


def _keep_approval(run_paths: RunPaths, approval: Approval) -> None:
    data, number, path = document_bytes(approval), 1, run_paths.approval
    while not atomic_files.create(path, data, within=run_paths.project.root):
        with open(file_access.open_file(path)[0], "rb") as file:
            if file.read() == data:
                break
        number += 1
        path = run_paths.approval.replace(".json", f"-{number}.json")


@contextmanager
def open_new_run(run_paths: RunPaths, approved_plan: ApprovedPlan, observer: RunObserver) -> Iterator[JournalWriter]:
    """Create the directories and the journal of a run, and open the journal for its first entry. Raises ExecplanError."""
    from execplan.execution.engine.audit_log.log_writer import AuditLog

    audit_log = AuditLog(run_paths.project, run_paths.ref)
    audit_log.update_anchor()
    audit_log.can_restore = True
    unsynced = UnsyncedFiles()
    with SyncGroup(unsynced):
        create_run(run_paths, approved_plan)
        new_journal = evidence_copies.open_journal(run_paths, unsynced)
    with new_journal as journal:
        run_state = RunState(approved_plan.document)
        yield JournalWriter(run_paths.id, journal, run_state, audit_log, make_redaction(), observer)


def write_first_entry(
    journal_writer: JournalWriter,
    run_paths: RunPaths,
    approved_plan: ApprovedPlan,
    **extra_fields: Any,
) -> None:
    """Write the first entry of a run with extra fields; from then on, the approval is used by this run alone.

    Raises ExecplanError.
    """
    binding, document = approved_plan.binding, approved_plan.document
    run_fields = {
        "run": run_paths.id,
        "plan_id": document.plan_id,
        "revision": document.revision,
        "document": binding.document,
    }
    journal_writer.write(
        BEGUN,
        **{
            **run_fields,
            **approval_fields(approved_plan),
            "policy": binding.policy,
            "head": head_commit(run_paths.project),
            **_caller_fields(),
            **extra_fields,
        },
    )
    _mark_used(run_paths, approved_plan)


def _mark_used(run_paths: RunPaths, approved_plan: ApprovedPlan) -> None:
    for approval in approved_plan.approvals:
        approval_registry.mark_used(run_paths.project, approval.id, run_paths.id)


def write_resumed(
    journal_writer: JournalWriter, approved_plan: ApprovedPlan, *, failed: Sequence[str], **extra_fields: Any
) -> None:
    """Record that a run resumes under an approval; `failed` has the steps that stay failed. Raises ExecplanError."""
    fields = {
        **approval_fields(approved_plan),
        "document": approved_plan.binding.document,
        "revision": approved_plan.document.revision,
        "failed": list(failed),
    }
    journal_writer.write(RESUMED, **{**fields, **extra_fields})


def _caller_fields() -> dict[str, str]:
    """Return the field that names the span that started the run; the guard starts runs, so few modules are loaded."""
    if "TRACEPARENT" not in os.environ:
        return {}
    from execplan.execution.engine.telemetry.trace_context import caller_fields

    return caller_fields(os.environ)


def approval_fields(approved_plan: ApprovedPlan) -> dict[str, Any]:
    """Return the entry fields that name the newest approval, the approvers and the current user."""
    approval = approved_plan.approval
    derivation = approval.derived_from
    if derivation is not None:
        coverage_fields = {"covered_by": {"approval": derivation.digest, "revision": derivation.revision}}
    else:
        coverage_fields = {}
    return {
        "approval": approval.digest,
        "approval_id": approval.id,
        "approver": ", ".join(dict.fromkeys([approval.approver for approval in approved_plan.approvals])),
        "how": approval.effective_how,
        **coverage_fields,
        "user": author.system_login(),
        "session": author.session_id(),
    }
