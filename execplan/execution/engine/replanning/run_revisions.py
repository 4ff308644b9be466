"""Execution plans of a run: the initial one, and the revisions made during the run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import INPUT, ExecplanError
from execplan.core.files import atomic_files, content_file, file_access
from execplan.core.text.text_lines import digest
from execplan.execution import rare_features
from execplan.execution.engine.journal.journal_entries import RunProgress, state_from_json
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.run_directories import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.engine.journal.journal import RunEntry
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.world import State

LIMIT = 5 << 20
"""Maximum size in bytes of an execution plan that is stored, and therefore of one that is read."""


def document_name(revision: int) -> str:
    """Return the file name of a revision that was made during the run; 0 for the initial plan."""
    return f"{DOCUMENT.removesuffix('.json')}-{revision}.json" if revision else DOCUMENT


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
    name = document_name(revision)
    path = run_paths.artifact_path(name)
    if not atomic_files.create(path, data):
        old = file_access.read(path, LIMIT)[0]
        if old != data:
            atomic_files.replace_if_unchanged(path, old, data)
    content_file.keep(run_paths.kept_path, {name: data})


def read_current_bytes(run_paths: RunPaths, entries: Sequence[RunEntry]) -> bytes:
    """Read the current execution plan of a run. Raises ExecplanError if the bytes do not match its journal."""
    revision, expected = latest_revision(entries)
    name = document_name(revision)
    data, artifact_path = evidence_copies.read_document(run_paths, name), run_paths.artifact_path(name)
    if expected and digest(data) != expected and os.path.lexists(artifact_path):
        data = file_access.read(artifact_path, LIMIT)[0]  # the revision was made in another checkout
    if expected and digest(data) != expected:
        raise ExecplanError(
            "run-altered",
            f"{artifact_path} is not the execution plan that the journal of run {run_paths.id} names",
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
