"""The ledger of a plan: one chain of records across runs and processes, whose head is anchored elsewhere."""

from __future__ import annotations

from execplan.clock import now
from execplan.engine import journal, place
from execplan.engine.ledger import anchor, chain, names, said
from execplan.engine.ledger.anchor import Anchor, MovedMeanwhileError
from execplan.engine.ledger.chain import START, Record
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.repo import author

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from execplan.engine.journal import Entry
    from execplan.engine.ledger.file import File
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_TRIES = 8


class Ledger:
    """The ledger of a plan, to be written to; many processes may have one at once."""

    def __init__(self, home: Home, ref: Ref, *, mends: bool = False) -> None:
        """`mends`: whether one that a step has altered or removed is brought back from its copy in the state."""
        self.home = home
        self.ref = ref
        self.path = names.path_of(home, ref)
        self._name = ""
        """What it is called; known once it was checked against its anchor."""
        self._anchor: Anchor | None = None
        """As it was when it was last read or moved."""
        self._last: Record | None = None
        """The last record that was there when this process last looked."""
        self._known: dict[str, dict[int, str]] = {}
        """By run, the digests of the entries that are here."""
        self._steps = said.Steps()
        self.mends = mends
        self.displaced: bytes | None = None
        """What was there before it was brought back from its copy in the state; None where it was not."""

    def append(self, kind: str, told: dict[str, Any]) -> Record:
        """Add a record and have it on disk; raises ExecplanError with the ledger as it was."""
        with self._open() as file:
            made = self._next(self._head(file), kind, f"{now():%Y-%m-%dT%H:%M:%SZ}", said.clean(told))
            self._write(file, [made])
            return made

    def follow(self, run: str, entries: Sequence[Entry]) -> None:
        """Bring over what the ledger lacks of a journal, of which these are the entries, or the last of them.

        What a journal holds went through the redaction before; what the ledger adds to it goes through it here.
        Raises ExecplanError, also when an entry is not the one that the ledger knows.
        """
        at = place.at(self.home, self.ref, run)
        with self._open() as file:
            last, made = self._head(file), []
            known = self._known.setdefault(run, {})
            if entries and entries[0].number > len(known) + 1:
                entries = journal.read(at.journal)  # some could not be brought over when they were written
            for entry in entries:
                about = self._steps.about(entry, at.document)
                if entry.number in known:
                    self._stop_other(at, entry, known[entry.number])
                    continue
                assert entry.number == len(known) + 1, f"entry {len(known) + 1} of {run} is not there"
                last = self._next(last, entry.kind, entry.at, {**said.of(entry), **about}, run, entry)
                made.append(last)
                known[entry.number] = entry.line
            try:
                self._write(file, made)
            except BaseException:
                self._name = ""  # read anew, whatever is there by now
                raise

    def anchor(self) -> None:
        """Let the anchor know the last record; raises ExecplanError, also when it knows one that is not here."""
        for _ in range(_TRIES):
            with self._open() as file:
                last = self._head(file)
                if last is None or (self._anchor is not None and self._anchor.hash == last.hash):
                    return
                try:
                    self._anchor = anchor.move(self.home, self._name, self._anchor, last.seq, last.hash)
                    return
                except MovedMeanwhileError:
                    self._name = ""  # checked anew, against where it is now
        raise anchor.broken(self._shown, self.ref.typed, "its anchor would not hold still")

    @property
    def _shown(self) -> str:
        return self.home.shown(self.path)

    def _open(self) -> File:
        return names.opened(self.home, self.ref)

    def _head(self, file: File) -> Record | None:
        """The last record, of a ledger that has all that the anchor knows, or that was brought back; raises ExecplanError."""
        if not self.mends:
            return self._checked(file)
        copy = file.copied() if file.is_shorter else b""
        if copy and copy.startswith(file.whole()):  # its end was cut off, or all of it is gone
            return self._back(file, copy)
        try:
            return self._checked(file)
        except ExecplanError:
            copy = file.copied()
            if not copy or not self._may_come_back(file.whole(), copy):
                raise
            return self._back(file, copy)

    def _may_come_back(self, data: bytes, copy: bytes) -> bool:
        """Whether a copy is to take the place of a ledger that is broken: also where this process has just seen it whole."""
        seen = self._last is not None and self._last.ledger == chain.name_of(copy)
        return seen or names.is_spoiled(data, copy)

    def _back(self, file: File, copy: bytes) -> Record | None:
        """Let the ledger be as its copy, where that has all that the anchor knows; raises ExecplanError."""
        name = chain.name_of(copy)
        known = anchor.get(self.home, name)
        if names.walk(copy, known).flaw is not None or (known is not None and names.lost(copy, known)):
            return self._checked(file)
        self.displaced = file.whole() if self.displaced is None else self.displaced
        file.restore(copy)
        self._name, self._last = "", None
        return self._checked(file)

    def _checked(self, file: File) -> Record | None:
        """The last record, of a ledger that has all that the anchor knows; raises ExecplanError."""
        try:
            last = file.last()
        except ValueError as error:
            raise self._broken(f"its last record {error}") from None
        if self._last is not None and (last is None or last.seq < self._last.seq):
            raise self._broken(f"record {self._last.seq}, which was just written, is gone")
        if not self._name:
            self._check(file, last)
        elif last is not None and (self._last is None or last.hash != self._last.hash):
            self._go_on(file, last)
        self._last = last
        return last

    def _check(self, file: File, last: Record | None) -> None:
        """Compare it with its anchor; raises ExecplanError."""
        name = last.ledger if last is not None else names.free(self.home, self.ref)
        known, data = anchor.get(self.home, name), file.whole()
        walked = names.walk(data, known)
        why = str(walked.flaw or "") or (names.lost(data, known) if known is not None else "")
        if why:
            raise self._broken(why)
        self._name, self._anchor, self._known = name, known, {}
        self._learn(walked.records)

    def _go_on(self, file: File, last: Record) -> None:
        """Look at what another process has written since; raises ExecplanError."""
        data = file.whole()
        begin = chain.behind(data, self._last.hash) if self._last is not None else 0
        walked = chain.walk(data[begin:], self._last, anchored=0)
        if begin < 0 or walked.flaw is not None:
            self._check(file, last)
        else:
            self._learn(walked.records)

    def _learn(self, records: Sequence[Record]) -> None:
        """Keep in mind which entries of journals are here."""
        for each in records:
            if each.run is not None and each.entry is not None and each.line is not None:
                self._known.setdefault(each.run, {})[each.entry] = each.line

    def _stop_other(self, at: place.Place, entry: Entry, line: str) -> None:
        if entry.line == line:
            return
        raise ExecplanError(
            "journal-altered",
            f"{self.home.shown(at.journal)}:{entry.number} is not the entry that the ledger knows: somebody has written there",
            exit=ENVIRONMENT,
            hint=f"bring the file back as it was, from git or a backup; see: execplan audit {self.ref.typed} --verify",
            line=entry.number,
        )

    def _next(
        self,
        last: Record | None,
        kind: str,
        at: str,
        told: dict[str, Any],
        run: str | None = None,
        entry: Entry | None = None,
    ) -> Record:
        """The record that stands behind the last one."""
        by = entry.said if entry is not None else {}
        session = by.get("session") or author.session()
        return chain.sealed(
            Record(
                seq=last.seq + 1 if last is not None else 1,
                at=at,
                kind=kind,
                ledger=self._name,
                plan_id=self.ref.id,
                user=author.as_name(str(by.get("user") or author.login())),
                session=author.as_name(str(session)) if session else None,
                run=run,
                entry=entry.number if entry is not None else None,
                line=entry.line if entry is not None else None,
                said=told,
                prev=last.hash if last is not None else START,
            )
        )

    def _write(self, file: File, made: list[Record]) -> None:
        if made:
            file.append(b"".join([chain.line_of(each) for each in made]))
            self._last = made[-1]

    def _broken(self, why: str) -> ExecplanError:
        return anchor.broken(self._shown, self.ref.typed, why)
