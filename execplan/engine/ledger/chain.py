"""A ledger's records: lines of JSON that each hold the hash of the one before, so that no line is changed unseen."""

from __future__ import annotations

import hashlib
import json

from execplan.engine.journal import MERGED, merged
from execplan.record import NamedTuple
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

ACCEPTED: Final = "accepted"
"""Somebody goes on with a ledger that is broken: reason, why (the flaw that was found, and what was lost), lost (seq and hash
that the anchor knew, or null), doubts (what else is not as the ledger says). Its `prev` is the SHA-256 of all bytes before it, so that what is accepted is these."""
START: Final = ""
"""What the first record has for the hash of the one before."""
_TEXT, _MAYBE = (str,), (str, type(None))
_TYPES = dict.fromkeys(("at", "kind", "ledger", "plan_id", "user", "prev", "hash"), _TEXT) | {
    "seq": (int,),
    "session": _MAYBE,
    "run": _MAYBE,
    "entry": (int, type(None)),
    "line": _MAYBE,
    "said": (dict,),
}
_LONG = 64 + len(',"hash":""}')


class Record(NamedTuple):
    """A line of a ledger."""

    seq: int
    """From 1, without gaps: the order counts, not the time."""
    at: str
    """By the clock, in UTC, which may have been set meanwhile."""
    kind: str
    """That of an entry of a journal, or one of approved, not_given, declined, revoked, enhancing, enhanced and accepted."""
    ledger: str
    """What the ledger is called, whatever the plan is called by now; its anchor has the same name."""
    plan_id: str
    """The plan as it was called then."""
    user: str
    """The login."""
    session: str | None
    """That of the agent program, where it is known."""
    run: str | None
    entry: int | None
    """The number of the journal's entry that it tells of."""
    line: str | None
    """SHA-256 of that entry's line."""
    said: dict[str, Any]
    """What else there is to say, by its kind."""
    prev: str
    """The hash of the record before."""
    hash: str = ""
    """SHA-256 of the line without this last member: `…,"prev":"…"}`."""


class Flaw(NamedTuple):
    """Where a ledger is not as it was written, and why that is so."""

    line: int
    """From 1."""
    seq: int | None
    """The number of the record, where it has one that can be read."""
    why: str

    def __str__(self) -> str:
        number = f"record {self.seq}, " if self.seq is not None else ""
        return f"{number}line {self.line}: {self.why}"


class Walked(NamedTuple):
    """A ledger read from its first line to the last."""

    records: list[Record]
    """Those whose hash is that of their bytes, whatever stands around them."""
    unread: tuple[Flaw, ...]
    """The other lines, accepted or not."""
    flaw: Flaw | None
    """The first one that nobody has accepted."""
    accepted: tuple[tuple[str, str], ...]
    """What somebody has accepted, flaws and what else was not as the ledger says, each with the reason."""


def sealed(record: Record) -> Record:
    """The record with its hash."""
    return record._replace(hash=digest(_rest(record)))


def line_of(record: Record) -> bytes:
    """The line of a record, with its end."""
    return _rest(record)[:-1] + _ending(record.hash) + b"\n"


def _rest(record: Record) -> bytes:
    told = record._asdict()
    del told["hash"]
    told["said"] = dict(sorted(record.said.items()))
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def parse(line: bytes) -> Record:
    """The record of a line without its end; raises ValueError, in words, for one that is not as it was written."""
    try:
        told = json.loads(line)
        record = Record(**told)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"is no record of a ledger{f': {MERGED}' if merged(line) else ''}") from None
    if list(told) != list(Record._fields) or not all([type(value) in _TYPES[name] for name, value in told.items()]):
        raise ValueError("is no record of a ledger")
    if line[-_LONG:] != _ending(record.hash) or digest(line[:-_LONG] + b"}") != record.hash:
        raise ValueError("its hash is not that of its bytes: it was edited")
    return record


def follows(record: Record, before: Record | None) -> str:
    """Why a record can't stand behind another, the first one behind none; nothing where it can."""
    number = before.seq + 1 if before is not None else 1
    if record.seq != number:
        return f"record {number} should stand here: one was removed, put in or moved"
    if before is not None and record.ledger != before.ledger:
        return f"it belongs to the ledger {record.ledger}"
    if record.prev != (before.hash if before is not None else START):
        return "it does not follow the one before: one of them was replaced"
    return ""


def walk(data: bytes, before: Record | None = None, anchored: int | None = None) -> Walked:
    """Read whole lines, each against the one before, the first one against a record that is known; flaws end no walk.

    What stands behind the bytes that are `anchored` accepts nothing: else who edits a record could accept that himself.
    """
    records: list[Record] = []
    unread: list[Flaw] = []
    flaw: Flaw | None = None
    accepted: list[tuple[str, str]] = []
    read = 0
    running = hashlib.sha256()
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        record, why = _read(line)
        read += len(line) + 1
        if record is not None:
            records.append(record)
            counts = record.kind == ACCEPTED and (anchored is None or read <= anchored)
            if counts and record.prev == running.hexdigest():
                accepted += [(each, str(record.said.get("reason"))) for each in _accepted_by(record)]
                flaw = None
            else:
                why = follows(record, before)
            before = record
        else:
            unread.append(Flaw(number, _number(line), why))
        if why and flaw is None:
            flaw = Flaw(number, record.seq if record is not None else _number(line), why)
        running.update(line + b"\n")
    return Walked(records, tuple(unread), flaw, tuple(accepted))


def behind(data: bytes, own: str) -> int:
    """Where the line ends of the record with this hash; -1 where it is not there."""
    ending = _ending(own) + b"\n"
    at = data.find(ending)
    return at + len(ending) if at >= 0 else -1


def name_of(data: bytes) -> str:
    """What a ledger is called, by the last of its lines that can be read; nothing where none can."""
    for line in reversed(data.split(b"\n")[:-1]):
        record, _ = _read(line)
        if record is not None:
            return record.ledger
    return ""


def _accepted_by(record: Record) -> list[str]:
    """What a record has accepted, in words."""
    return [str(each) for name in ("why", "doubts") for each in listed(record.said.get(name))]


def listed(value: object) -> list[Any]:
    """A list that a record should hold; an empty one for what is none, whoever has written it."""
    return value if isinstance(value, list) else []


def _read(line: bytes) -> tuple[Record | None, str]:
    try:
        return parse(line), ""
    except ValueError as error:
        return None, str(error)


def _number(line: bytes) -> int | None:
    """The number that a line gives itself, which is no record."""
    try:
        seq = json.loads(line)["seq"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return seq if type(seq) is int else None


def _ending(own: str) -> bytes:
    return f',"hash":"{own}"}}'.encode("utf-8", "backslashreplace")
