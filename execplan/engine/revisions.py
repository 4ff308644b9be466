"""The execution plans of a run: the one that it was begun with, and the revisions that were made while it was under way."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.text import disk, files
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.journal import Entry
    from execplan.engine.place import RunPaths
    from execplan.execution.model import ExecutionPlan

LIMIT = 5 << 20
"""Bytes of the largest one that is stored, and so of the largest one that is read."""


def path_of(place: RunPaths, revision: int) -> str:
    """Where a revision lies that was made while the run was under way; the first one is `place.document`."""
    return place.paper(os.path.basename(beside(place.document, revision)))


def beside(document: str, revision: int) -> str:
    """As `path_of`, given where the first one lies."""
    return f"{document.removesuffix('.json')}-{revision}.json"


def wanted(entries: Sequence[Entry]) -> tuple[int, str]:
    """The revision that a journal has come to, 0 for that of its first entry, and the digest of its bytes."""
    found = 0, ""
    for entry in entries:
        if entry.kind == "begun":
            found = 0, entry.said["document"]
        elif entry.kind == "replanned":
            found = entry.said["revision"], entry.said["document"]
    return found


def keep(place: RunPaths, revision: int, data: bytes) -> None:
    """Put a revision into the run's folder, synced; what a killed process has left of one makes way.

    The caller holds the lock of runs. Raises ExecplanError.
    """
    path = place.shown(os.path.basename(path_of(place, revision)))
    if not files.create(path, data):
        old = disk.read(path, LIMIT)[0]
        if old != data:
            files.replace(path, old, data)
    files.put(place.copied(os.path.basename(path)), data)


def data_of(place: RunPaths, entries: Sequence[Entry]) -> bytes:
    """The bytes of the execution plan that a run has come to; raises ExecplanError where they are not those of its journal."""
    revision, expected = wanted(entries)
    path = path_of(place, revision) if revision else place.document
    data = disk.read(path, LIMIT)[0]
    shown = place.shown(os.path.basename(path))
    if expected and digest(data) != expected and path != shown and os.path.lexists(shown):
        data = disk.read(shown, LIMIT)[0]  # another checkout has made the revision
    if expected and digest(data) != expected:
        raise ExecplanError(
            "run-altered",
            f"{path} is not what the journal of the run {place.id} says that it runs",
            exit=ENVIRONMENT,
            hint="bring the file back as it was, from git or a backup",
        )
    return data


def document_of(place: RunPaths, entries: Sequence[Entry]) -> ExecutionPlan:
    """The execution plan that a run has come to; raises ExecplanError."""
    from execplan.execution.documents.document import load
    from execplan.execution.model import ExecutionPlan

    return load(data_of(place, entries), ExecutionPlan, place.document)
