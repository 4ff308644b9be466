"""What lies beside a ledger and is named in it: the journals of runs, what they ran, and approvals."""

from __future__ import annotations

import os

from execplan.engine import journal, place
from execplan.engine.ledger.papers import papers
from execplan.errors import ExecplanError
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.repo.execution import approvals
from execplan.text import disk
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

    from execplan.engine.ledger.chain import Record
    from execplan.engine.place import Place
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

APPROVED: Final = "approved"
NOT_GIVEN: Final = "not_given"
DECLINED: Final = "declined"
REVOKED: Final = "revoked"
"""The kinds of records that come from no journal."""
_LIMIT = 5 << 20


class Seen(NamedTuple):
    """How it compares."""

    doubts: list[str]
    """What is not as the ledger says."""
    warnings: list[str]
    """What can come of a writer that was killed, or of a file that was removed."""


def look(home: Home, ref: Ref, records: Sequence[Record]) -> Seen:
    """Compare what is there; raises ExecplanError when a folder can't be read.

    Paths are told from the plan's artifacts: what is accepted stays so when these are moved.
    """
    seen = Seen([], [])
    known: dict[str, dict[int, str]] = {}
    for record in records:
        if record.run is not None and record.entry is not None and record.line is not None:
            known.setdefault(record.run, {})[record.entry] = record.line
    there = {each.id: each for each in place.every(home, ref)}
    for run in sorted(known.keys() | there.keys()):
        if run in there and (run not in known or os.path.lexists(there[run].shown(place.JOURNAL))):
            _journal(there[run], known.get(run, {}), seen)
            _papers(there[run], records, seen)
        else:
            seen.warnings.append(f"the journal of the run {run} is not there")
    _approvals(home, ref, records, seen)
    return seen


def _journal(run: Place, known: dict[int, str], seen: Seen) -> None:
    """A run's journal against what the ledger knows of it."""
    shown, path = _shown(run, place.JOURNAL), run.shown(place.JOURNAL)
    try:
        entries = journal.read(path) if os.path.lexists(path) else []
    except ExecplanError as error:
        seen.doubts.append(error.message.replace(path, shown))
        return
    for entry in entries:
        if known.get(entry.number, entry.line) != entry.line:
            seen.doubts.append(f"{shown}:{entry.number} is not the entry that the ledger knows: {entry.line[:12]}")
    last = max(known, default=0)
    if len(entries) < last:
        seen.doubts.append(f"{shown} ends behind entry {len(entries)}, and the ledger knows {last}")
    missing = [number for number in range(1, last) if number not in known]
    if missing:
        seen.doubts.append(f"the ledger knows entry {last} of {shown}, and not entry {missing[0]}")
    if len(entries) > last:
        count = len(entries) - last
        why = "it is under way, or was killed, and its resume or rollback brings them over"
        told = (
            f"{count} entr{'y' if count == 1 else 'ies'} of {shown} {'is' if count == 1 else 'are'} not in the ledger"
        )
        seen.warnings.append(f"{told}: {why}")


def _papers(run: Place, records: Sequence[Record], seen: Seen) -> None:
    """What a run ran and what let it run, against what the ledger knows of both."""
    given: dict[str, frozenset[str]] = {}
    for record in records:
        if record.kind == APPROVED:
            own = str(record.said.get("approval"))
            given[own] = given.get(own, frozenset()) | {str(record.said.get("file"))}
    for paper in papers(run, [each for each in records if each.run == run.id], given):
        shown = _shown(run, paper.name)
        if paper.found is None:
            seen.warnings.append(f"{shown} is not there, and the ledger knows it: it was removed")
        elif paper.found not in paper.known:
            seen.doubts.append(f"{shown} is not the one that was recorded: {paper.found[:12]}")


def _shown(run: Place, name: str) -> str:
    """A file of a run, from the plan's artifacts."""
    return f"runs/{run.id}/{name}"


def _approvals(home: Home, ref: Ref, records: Sequence[Record], seen: Seen) -> None:
    """The approvals that are there against those that were recorded."""
    recorded: dict[str, list[str]] = {}
    for record in records:
        if record.kind == APPROVED:
            recorded.setdefault(str(record.said.get("digest")), []).append(str(record.said.get("file")))
    taken = {str(record.said.get("file")) for record in records if record.kind == NOT_GIVEN}
    there = dict(_files(home, ref))
    for name, files in recorded.items():
        found, due = there.pop(name, None), [each for each in files if each not in taken]
        if found is not None and found not in files:
            seen.doubts.append(f"the approval {name[:12]} is not the one that was recorded: {found[:12]}")
        elif due and found != due[-1]:
            why = "approve was killed before it was written, or it was removed"
            seen.warnings.append(f"the approval {name[:12]} was recorded, and its file is not there: {why}")
    for name in there:
        seen.warnings.append(
            f"the approval {name[:12]} is not in the ledger: its record is gone, or there was no ledger yet"
        )


def _files(home: Home, ref: Ref) -> Iterator[tuple[str, str]]:
    """The digests that were approved, each with that of its file."""
    folder = approvals.folder(home, ref)
    for name in shelf.entries(folder):
        if name.endswith(".json"):
            yield name.removesuffix(".json"), digest(disk.read(os.path.join(folder, name), _LIMIT)[0])
