"""What lies in a run's folder beside its journal: the documents that ran, and the approvals that let them run."""

from __future__ import annotations

import os

from execplan.engine import revisions
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.text import disk
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from execplan.engine.ledger.chain import AuditRecord
    from execplan.engine.place import RunPaths


class EvidenceFile(NamedTuple):
    """A file of which the ledger knows the digest."""

    name: str
    actual_digest: str | None
    """The digest of its bytes; None: it is not there."""
    expected_digests: frozenset[str]
    """The digests that it may have."""


def evidence_files(run: RunPaths, records: Sequence[AuditRecord], approval_digests: Mapping[str, frozenset[str]]) -> Iterator[EvidenceFile]:
    """Those of a run, by its records and by the files of the approvals that were given; raises ExecplanError."""
    used_digests: set[str] = set()
    for record in records:
        document_digest = record.said.get("document")
        if record.kind == "begun" and isinstance(document_digest, str):
            yield _read_evidence_file(run.artifact_path("execution-plan.json"), frozenset([document_digest]))
        elif record.kind == "replanned" and isinstance(document_digest, str):
            yield _read_evidence_file(
                revisions.numbered_path(run.artifact_path("execution-plan.json"), record.said.get("revision", 0)), frozenset([document_digest])
            )
        if record.kind in ("begun", "resumed"):
            used_digests |= approval_digests.get(str(record.said.get("approval_id")), frozenset())
    if used_digests:
        for path in _approval_paths(run):
            yield _read_evidence_file(path, frozenset(used_digests))


def _approval_paths(run: RunPaths) -> list[str]:
    """That of the beginning, there or not, and those of resumes."""
    stem = os.path.basename(run.approval).removesuffix(".json") + "-"
    names = [name for name in shelf.list_entries(run.folder) if name.startswith(stem) and name.endswith(".json")]
    return [run.approval, *[os.path.join(run.folder, name) for name in names]]


def _read_evidence_file(path: str, expected_digests: frozenset[str]) -> EvidenceFile:
    actual_digest = digest(disk.read(path, revisions.LIMIT)[0]) if os.path.lexists(path) else None
    return EvidenceFile(os.path.basename(path), actual_digest, expected_digests)
