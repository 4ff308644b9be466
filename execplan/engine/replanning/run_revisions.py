"""The execution plans of a run: the one that it was begun with, and the revisions that were made while it was under way."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.files import atomic_files, file_access
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.journal.journal import Entry
    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import ExecutionPlan

LIMIT = 5 << 20
"""Bytes of the largest one that is stored, and so of the largest one that is read."""


def revision_path(run_paths: RunPaths, revision: int) -> str:
    """Where a revision lies that was made while the run was under way; the first one is `place.document`."""
    return run_paths.trusted_path(os.path.basename(numbered_path(run_paths.document, revision)))


def numbered_path(document: str, revision: int) -> str:
    """As `path_of`, given where the first one lies."""
    return f"{document.removesuffix('.json')}-{revision}.json"


def latest_revision(entries: Sequence[Entry]) -> tuple[int, str]:
    """The revision that a journal has come to, 0 for that of its first entry, and the digest of its bytes."""
    latest = 0, ""
    for entry in entries:
        if entry.kind == "begun":
            latest = 0, entry.fields["document"]
        elif entry.kind == "replanned":
            latest = entry.fields["revision"], entry.fields["document"]
    return latest


def save_revision(run_paths: RunPaths, revision: int, data: bytes) -> None:
    """Put a revision into the run's folder, synced; what a killed process has left of one makes way.

    The caller holds the lock of runs. Raises ExecplanError.
    """
    path = run_paths.artifact_path(os.path.basename(revision_path(run_paths, revision)))
    if not atomic_files.create(path, data):
        old = file_access.read(path, LIMIT)[0]
        if old != data:
            atomic_files.replace(path, old, data)
    atomic_files.write(run_paths.copy_path(os.path.basename(path)), data)


def read_current_bytes(run_paths: RunPaths, entries: Sequence[Entry]) -> bytes:
    """The bytes of the execution plan that a run has come to; raises ExecplanError where they are not those of its journal."""
    revision, expected = latest_revision(entries)
    path = revision_path(run_paths, revision) if revision else run_paths.document
    data = file_access.read(path, LIMIT)[0]
    artifact_path = run_paths.artifact_path(os.path.basename(path))
    if expected and digest(data) != expected and path != artifact_path and os.path.lexists(artifact_path):
        data = file_access.read(artifact_path, LIMIT)[0]  # another checkout has made the revision
    if expected and digest(data) != expected:
        raise ExecplanError(
            "run-altered",
            f"{path} is not what the journal of the run {run_paths.id} says that it runs",
            exit=ENVIRONMENT,
            hint="bring the file back as it was, from git or a backup",
        )
    return data


def load_document(run_paths: RunPaths, entries: Sequence[Entry]) -> ExecutionPlan:
    """The execution plan that a run has come to; raises ExecplanError."""
    from execplan.execution.documents.document_io import load
    from execplan.execution.execution_plan import ExecutionPlan

    return load(read_current_bytes(run_paths, entries), ExecutionPlan, run_paths.document)
