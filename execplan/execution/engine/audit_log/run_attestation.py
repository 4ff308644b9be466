"""Attestation of a plan's last run, for verifiers that don't have execplan."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.archive import archive_evidence, attestation
from execplan.core.errors import INPUT, ExecplanError
from execplan.core.plan_store import plan_store
from execplan.execution import states
from execplan.execution.approvals import artifact_store
from execplan.execution.engine.audit_log import anchor, log_reader, log_verification
from execplan.execution.engine.audit_log.run_statement import build_attestation
from execplan.execution.engine.run_preconditions import ensure_no_unfinished_run
from execplan.execution.engine.run_records.run_summary import find_last_begun_run, load_run_state

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.artifact_store import StoredArtifact


def attest_last_run(project: Project, ref: PlanRef, options: WriteOptions) -> StoredArtifact:
    """Write the in-toto Statement of a plan's last run to its artifacts. Raises ExecplanError.

    The audit log must be intact, because the Statement relies on what it records.
    """
    folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    _ensure_log_intact(project, ref)
    _ensure_path_free(project, folder)
    return artifact_store.save(
        project,
        ref,
        lambda: _build_statement(project, ref, folder),
        options,
        command="audit",
        summary="attest the last run",
        name=attestation.ATTESTATION_FILE,
    )


def _build_statement(project: Project, ref: PlanRef, folder: str) -> bytes:
    facts = archive_evidence.collect_facts(project, ref, ref.path, plan_store.read_bytes(project, ref.path), folder)
    if facts["run"] is None:
        ensure_no_unfinished_run(project, ref)
        _ensure_record_not_missing(project, ref)
        raise ExecplanError(
            "nothing-to-attest",
            f"{ref.id} has no run that has ended, so there is no result to attest",
            exit=INPUT,
            hint=f"see its runs: execplan runs {ref.shell_name}",
        )
    return build_attestation(project, facts, folder)


def _ensure_record_not_missing(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if the last run has ended but its record is missing or damaged, as after a kill at its end."""
    run_paths, entries = find_last_begun_run(project, ref)
    if run_paths is None:
        return
    number = f"{run_paths.number} -p {ref.shell_name}"
    hint = f"write it again from the journal: execplan resume {number}"
    if load_run_state(run_paths, entries).status == states.FAILED:
        hint = f"resume the run: execplan resume {number}; or roll it back: execplan rollback {number}"
    message = f"the record of run {run_paths.id} of {ref.id} is missing or damaged"
    raise ExecplanError("nothing-to-attest", message, exit=INPUT, hint=hint)


def _ensure_log_intact(project: Project, ref: PlanRef) -> None:
    if reasons := log_verification.verify_log(project, ref).reasons:
        raise anchor.broken_error(project.display_path(log_reader.path_of(project, ref)), ref.shell_name, reasons[0])


def _ensure_path_free(project: Project, folder: str) -> None:
    """Raise ExecplanError if the name of the attestation is taken by a file of someone else."""
    path = os.path.join(folder, attestation.ATTESTATION_FILE)
    if os.path.lexists(path) and attestation.read_attestation(folder) is None:
        raise ExecplanError(
            "target-taken",
            f"{project.display_path(path)} already exists and is not an attestation",
            exit=INPUT,
            hint="move it away, then try again",
        )
