"""Execution plans of a run: the initial one, and the revisions made during the run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import INPUT, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.text.text_lines import digest
from execplan.execution import rare_features
from execplan.execution.engine.journal.journal_entries import RunProgress, state_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.engine.journal.journal import RunEntry
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.world import State

LIMIT = 5 << 20
"""Maximum size in bytes of an execution plan that is stored, and therefore of one that is read."""


def revision_path(run_paths: RunPaths, revision: int) -> str:
    """Return the path of a revision that was made during the run; the initial plan is at `run_paths.document`."""
    return run_paths.trusted_path(os.path.basename(numbered_path(run_paths.document, revision)))


def numbered_path(document: str, revision: int) -> str:
    """Return the path of a revision, given the path of the initial document."""
    return f"{document.removesuffix('.json')}-{revision}.json"


def latest_revision(entries: Sequence[RunEntry]) -> tuple[int, str]:
    """Return the latest revision in a journal, 0 for that of its first entry, and the digest of its bytes."""
    progress = RunProgress()
    for entry in entries:
        progress.advance(entry.kind, entry.fields)
    return progress.revision, progress.document_digest


def save_revision(run_paths: RunPaths, revision: int, data: bytes) -> None:
    """Write a revision into the run's directory and sync it, replacing one that a killed process left.

    The caller must have the run lock. Raises ExecplanError.
    """
    path = run_paths.artifact_path(os.path.basename(revision_path(run_paths, revision)))
    if not atomic_files.create(path, data):
        old = file_access.read(path, LIMIT)[0]
        if old != data:
            atomic_files.replace_if_unchanged(path, old, data)
    atomic_files.replace(run_paths.copy_path(os.path.basename(path)), data)


def read_current_bytes(run_paths: RunPaths, entries: Sequence[RunEntry]) -> bytes:
    """Read the current execution plan of a run. Raises ExecplanError if the bytes do not match its journal."""
    revision, expected = latest_revision(entries)
    path = revision_path(run_paths, revision) if revision else run_paths.document
    data = file_access.read(path, LIMIT)[0]
    artifact_path = run_paths.artifact_path(os.path.basename(path))
    if expected and digest(data) != expected and path != artifact_path and os.path.lexists(artifact_path):
        data = file_access.read(artifact_path, LIMIT)[0]  # the revision was made in another checkout
    if expected and digest(data) != expected:
        raise ExecplanError(
            "run-altered",
            f"{path} is not the execution plan that the journal of run {run_paths.id} names",
            hint="restore the file from git or a backup",
        )
    return data


def has_edited_steps(run_paths: RunPaths, entries: Sequence[RunEntry]) -> bool:
    """Return whether the plan's lines with steps are others than when the current plan of a run was made.

    A plan that no longer compiles was edited. Raises ExecplanError.
    """
    from execplan.core.text import fast_json
    from execplan.execution.approvals.current_plan import compile_plan_file

    source = fast_json.read(read_current_bytes(run_paths, entries).decode()).get("source")
    if source is None:  # it was imported or composed
        return False
    try:
        compiled_plan = compile_plan_file(run_paths.project, run_paths.ref).document
    except ExecplanError as error:
        return error.exit == INPUT
    return compiled_plan is None or compiled_plan.source is None or compiled_plan.source.sha256 != source["sha256"]


def _bound_states(entries: Sequence[RunEntry]) -> dict[str, State]:
    """Return the states of the files that the approvals of a run bind, those of a later one last."""
    return {path: state_from_json(state) for entry in entries for path, state in entry.fields.get("states", {}).items()}


def load_document(run_paths: RunPaths, entries: Sequence[RunEntry]) -> ExecutionPlan:
    """Load the current execution plan of a run, whose steps have the files that its approval binds.

    Raises ExecplanError.
    """
    from execplan.core.documents.document_io import load_document
    from execplan.execution.execution_plan import ExecutionPlan

    document = load_document(read_current_bytes(run_paths, entries), ExecutionPlan, run_paths.document)
    if not document.finds_files:
        return document
    bound_document: ExecutionPlan = features.load(rare_features.BOUND_FILES)(document, _bound_states(entries))
    return bound_document
