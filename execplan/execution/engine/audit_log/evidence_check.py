"""Checks of the files that an audit log refers to: run journals, executed plans and approvals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.execution.approvals import approval_paths
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.journal import journal
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.run_records import evidence_copies, run_directories
from execplan.execution.engine.run_records.run_directories import RunPaths


class EvidenceFile(NamedTuple):
    """A file with its digest and the digests recorded in the audit log."""

    name: str
    actual_digest: str | None
    """Digest of the file's bytes; None if the file does not exist, or if a crash of the machine has left it empty."""
    expected_digests: frozenset[str]
    """Digests that the file may have."""


def evidence_files(
    run: RunPaths, records: Sequence[AuditRecord], approval_digests: Mapping[str, frozenset[str]]
) -> Iterator[EvidenceFile]:
    """Iterate over the evidence files of a run, by its records and the files of approvals. Raises ExecplanError."""
    used_digests: set[str] = set()
    for record in records:
        document_digest = record.said.get("document")
        if record.kind == "begun" and isinstance(document_digest, str):
            yield _read_evidence_file(run.document, frozenset([document_digest]))
        elif record.kind == "replanned" and isinstance(document_digest, str):
            yield _read_evidence_file(
                run.artifact_path(run_revisions.document_name(record.said.get("revision", 0))),
                frozenset([document_digest]),
            )
        if record.kind in ("begun", "resumed"):
            used_digests |= approval_digests.get(str(record.said.get("approval_id")), frozenset())
    if used_digests:
        for path in _approval_paths(run):
            yield _read_evidence_file(path, frozenset(used_digests))


def _approval_paths(run: RunPaths) -> list[str]:
    """Return the approval of the run's start, existing or not, and those of its resumes."""
    stem = os.path.basename(run.approval).removesuffix(".json") + "-"
    names = [name for name in plan_store.list_entries(run.folder) if name.startswith(stem) and name.endswith(".json")]
    return [run.approval, *[os.path.join(run.folder, name) for name in names]]


def _read_evidence_file(path: str, expected_digests: frozenset[str]) -> EvidenceFile:
    data, size = file_access.read(path, run_revisions.LIMIT) if os.path.lexists(path) else (b"", 0)
    return EvidenceFile(os.path.basename(path), digest(data) if size else None, expected_digests)


APPROVED: Final = "approved"
NOT_GIVEN: Final = "not_given"
DECLINED: Final = "declined"
REVOKED: Final = "revoked"
"""Kinds of records that come from no journal."""
_LIMIT = 5 << 20


class EvidenceFindings(NamedTuple):
    """The result of comparing evidence files with the audit log."""

    doubts: list[str]
    """Differences from the audit log."""
    warnings: list[str]
    """Differences that a killed writer or a removed file can cause."""


def check_evidence(project: Project, ref: PlanRef, records: Sequence[AuditRecord]) -> EvidenceFindings:
    """Compare the evidence files with an audit log. Raises ExecplanError if a directory cannot be read.

    Paths are relative to the plan's artifacts, so that accepted problems stay accepted when the artifacts are moved.
    """
    findings = EvidenceFindings([], [])
    known_lines: dict[str, dict[int, str]] = {}
    for record in records:
        if record.run is not None and record.entry is not None and record.line is not None:
            known_lines.setdefault(record.run, {})[record.entry] = record.line
    paths_by_run = {paths.id: paths for paths in run_directories.list_runs(project, ref)}
    for run in sorted(known_lines.keys() | paths_by_run.keys()):
        if run in paths_by_run and (
            run not in known_lines or os.path.lexists(paths_by_run[run].artifact_path(run_directories.JOURNAL))
        ):
            _check_journal(paths_by_run[run], known_lines.get(run, {}), findings)
            _check_evidence_files(paths_by_run[run], records, findings)
        else:
            findings.warnings.append(f"the journal of run {run} is missing")
    _check_approvals(project, ref, records, findings)
    return findings


def _check_journal(run: RunPaths, known_lines: dict[int, str], findings: EvidenceFindings) -> None:
    """Compare a run's journal with the audit log."""
    display_path, path = _display_path(run, run_directories.JOURNAL), run.artifact_path(run_directories.JOURNAL)
    if evidence_copies.is_behind_journal(run):
        path = run.state_journal
        findings.warnings.append(
            f"{display_path} lacks the last entries of its copy: restore it: execplan doctor --fix"
        )
    try:
        entries = journal.read_journal(path) if os.path.lexists(path) else []
    except ExecplanError as error:
        findings.doubts.append(error.message.replace(path, display_path))
        return
    for entry in entries:
        if known_lines.get(entry.number, entry.line) != entry.line:
            findings.doubts.append(
                f"{display_path}:{entry.number} differs from the entry in the audit log: {entry.line[:12]}"
            )
    last_number = max(known_lines, default=0)
    if len(entries) < last_number:
        findings.doubts.append(f"{display_path} ends after entry {len(entries)}, but the audit log has {last_number}")
    if missing := [number for number in range(1, last_number) if number not in known_lines]:
        findings.doubts.append(f"the audit log has entry {last_number} of {display_path}, but not entry {missing[0]}")
    if len(entries) > last_number:
        count = len(entries) - last_number
        why = "the run is in progress or was killed; its resume or rollback adds them"
        message = f"{count} entr{'y' if count == 1 else 'ies'} of {display_path} {'is' if count == 1 else 'are'} not in the audit log"
        findings.warnings.append(f"{message}: {why}")


def _check_evidence_files(run: RunPaths, records: Sequence[AuditRecord], findings: EvidenceFindings) -> None:
    """Compare a run's execution plans and approvals with the audit log."""
    approval_digests: dict[str, frozenset[str]] = {}
    for record in records:
        if record.kind == APPROVED:
            approval_id = str(record.said.get("approval"))
            approval_digests[approval_id] = approval_digests.get(approval_id, frozenset()) | {
                str(record.said.get("file"))
            }
    for evidence_file in evidence_files(
        run, [run_record for run_record in records if run_record.run == run.id], approval_digests
    ):
        display_path = _display_path(run, evidence_file.name)
        if evidence_file.actual_digest is None:
            findings.warnings.append(f"{display_path} is in the audit log but missing: it was removed")
        elif evidence_file.actual_digest not in evidence_file.expected_digests:
            findings.doubts.append(f"{display_path} differs from the recorded file: {evidence_file.actual_digest[:12]}")


def _display_path(run: RunPaths, name: str) -> str:
    """Return the path of a run's file, relative to the plan's artifacts."""
    return f"runs/{run.id}/{name}"


def _check_approvals(
    project: Project, ref: PlanRef, records: Sequence[AuditRecord], findings: EvidenceFindings
) -> None:
    """Compare the existing approvals with the recorded ones."""
    recorded: dict[str, list[str]] = {}
    for record in records:
        if record.kind == APPROVED:
            key = record.said.get("key")  # of a person, each of whom has a file for the digest
            name = f"{record.said.get('digest')}{f'-{key}' if key else ''}"
            recorded.setdefault(name, []).append(str(record.said.get("file")))
    not_given = {str(record.said.get("file")) for record in records if record.kind == NOT_GIVEN}
    existing = dict(_approval_files(project, ref))
    for name, files in recorded.items():
        existing_digest, expected_digests = (
            existing.pop(name, None),
            [file_digest for file_digest in files if file_digest not in not_given],
        )
        if existing_digest is not None and existing_digest not in files:
            findings.doubts.append(f"approval {name[:12]} differs from the recorded one: {existing_digest[:12]}")
        elif expected_digests and existing_digest != expected_digests[-1]:
            why = "approve was killed before it wrote the file, or the file was removed"
            findings.warnings.append(f"approval {name[:12]} was recorded, but its file is missing: {why}")
    for name in existing:
        findings.warnings.append(
            f"approval {name[:12]} is not in the audit log: its record was removed, or there was no audit log yet"
        )


def _approval_files(project: Project, ref: PlanRef) -> Iterator[tuple[str, str]]:
    """Iterate over the names of approvals, each with the digest of its file."""
    folder = approval_paths.directory(project, ref)
    for name in plan_store.list_entries(folder):
        if name.endswith(".json"):
            yield name.removesuffix(".json"), digest(file_access.read(os.path.join(folder, name), _LIMIT)[0])
