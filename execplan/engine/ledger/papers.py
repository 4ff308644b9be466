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

    from execplan.engine.ledger.chain import Record
    from execplan.engine.place import Place


class Paper(NamedTuple):
    """A file of which the ledger knows the digest."""

    name: str
    found: str | None
    """The digest of its bytes; None: it is not there."""
    known: frozenset[str]
    """The digests that it may have."""


def papers(run: Place, records: Sequence[Record], given: Mapping[str, frozenset[str]]) -> Iterator[Paper]:
    """Those of a run, by its records and by the files of the approvals that were given; raises ExecplanError."""
    served: set[str] = set()
    for record in records:
        told = record.said.get("document")
        if record.kind == "begun" and isinstance(told, str):
            yield _paper(run.shown("execution-plan.json"), frozenset([told]))
        elif record.kind == "replanned" and isinstance(told, str):
            yield _paper(
                revisions.beside(run.shown("execution-plan.json"), record.said.get("revision", 0)), frozenset([told])
            )
        if record.kind in ("begun", "resumed"):
            served |= given.get(str(record.said.get("approval_id")), frozenset())
    if served:
        for path in _approvals(run):
            yield _paper(path, frozenset(served))


def _approvals(run: Place) -> list[str]:
    """That of the beginning, there or not, and those of resumes."""
    stem = os.path.basename(run.approval).removesuffix(".json") + "-"
    names = [name for name in shelf.entries(run.folder) if name.startswith(stem) and name.endswith(".json")]
    return [run.approval, *[os.path.join(run.folder, name) for name in names]]


def _paper(path: str, known: frozenset[str]) -> Paper:
    found = digest(disk.read(path, revisions.LIMIT)[0]) if os.path.lexists(path) else None
    return Paper(os.path.basename(path), found, known)
