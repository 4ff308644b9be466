"""A ledger's records: lines of JSON that each hold the hash of the one before, so that no line is changed unseen."""

from __future__ import annotations

import hashlib
import json

from execplan.engine.journal.journal import MERGE_MARKER, is_merge_marker
from execplan.named_tuple import NamedTuple
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

ACCEPTED: Final = "accepted"
"""Somebody goes on with a ledger that is broken: reason, why (the flaw that was found, and what was lost), lost (seq and hash
that the anchor knew, or null), doubts (what else is not as the ledger says). Its `prev` is the SHA-256 of all bytes before it, so that what is accepted is these."""
START: Final = ""
"""What the first record has for the hash of the one before."""
_TEXT, _OPTIONAL_TEXT = (str,), (str, type(None))
_TYPES = dict.fromkeys(("at", "kind", "ledger", "plan_id", "user", "prev", "hash"), _TEXT) | {
    "seq": (int,),
    "session": _OPTIONAL_TEXT,
    "run": _OPTIONAL_TEXT,
    "entry": (int, type(None)),
    "line": _OPTIONAL_TEXT,
    "said": (dict,),
}
_SUFFIX_LENGTH = 64 + len(',"hash":""}')


class AuditRecord(NamedTuple):
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


class ParsedChain(NamedTuple):
    """A ledger read from its first line to the last."""

    records: list[AuditRecord]
    """Those whose hash is that of their bytes, whatever stands around them."""
    unreadable: tuple[Flaw, ...]
    """The other lines, accepted or not."""
    flaw: Flaw | None
    """The first one that nobody has accepted."""
    accepted: tuple[tuple[str, str], ...]
    """What somebody has accepted, flaws and what else was not as the ledger says, each with the reason."""


def with_hash(record: AuditRecord) -> AuditRecord:
    """The record with its hash."""
    return record._replace(hash=digest(_encode_without_hash(record)))


def encode_record(record: AuditRecord) -> bytes:
    """The line of a record, with its end."""
    return _encode_without_hash(record)[:-1] + _hash_suffix(record.hash) + b"\n"


def _encode_without_hash(record: AuditRecord) -> bytes:
    fields = record._asdict()
    del fields["hash"]
    fields["said"] = dict(sorted(record.said.items()))
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def parse_record(line: bytes) -> AuditRecord:
    """The record of a line without its end; raises ValueError, in words, for one that is not as it was written."""
    try:
        fields = json.loads(line)
        record = AuditRecord(**fields)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"is no record of a ledger{f': {MERGE_MARKER}' if is_merge_marker(line) else ''}") from None
    if list(fields) != list(AuditRecord._fields) or not all(
        [type(value) in _TYPES[name] for name, value in fields.items()]
    ):
        raise ValueError("is no record of a ledger")
    if line[-_SUFFIX_LENGTH:] != _hash_suffix(record.hash) or digest(line[:-_SUFFIX_LENGTH] + b"}") != record.hash:
        raise ValueError("its hash is not that of its bytes: it was edited")
    return record


def sequence_error(record: AuditRecord, previous: AuditRecord | None) -> str:
    """Why a record can't stand behind another, the first one behind none; nothing where it can."""
    number = previous.seq + 1 if previous is not None else 1
    if record.seq != number:
        return f"record {number} should stand here: one was removed, put in or moved"
    if previous is not None and record.ledger != previous.ledger:
        return f"it belongs to the ledger {record.ledger}"
    if record.prev != (previous.hash if previous is not None else START):
        return "it does not follow the one before: one of them was replaced"
    return ""


def parse_chain(data: bytes, previous: AuditRecord | None = None, anchored_size: int | None = None) -> ParsedChain:
    """Read whole lines, each against the one before, the first one against a record that is known; flaws end no walk.

    What stands behind the bytes that are `anchored_size` accepts nothing: else who edits a record could accept that himself.
    """
    records: list[AuditRecord] = []
    unread: list[Flaw] = []
    flaw: Flaw | None = None
    accepted: list[tuple[str, str]] = []
    bytes_read = 0
    hasher = hashlib.sha256()
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        record, why = _try_parse(line)
        bytes_read += len(line) + 1
        if record is not None:
            records.append(record)
            is_effective = record.kind == ACCEPTED and (anchored_size is None or bytes_read <= anchored_size)
            if is_effective and record.prev == hasher.hexdigest():
                accepted += [(problem, str(record.said.get("reason"))) for problem in _accepted_problems(record)]
                flaw = None
            else:
                why = sequence_error(record, previous)
            previous = record
        else:
            unread.append(Flaw(number, _claimed_number(line), why))
        if why and flaw is None:
            flaw = Flaw(number, record.seq if record is not None else _claimed_number(line), why)
        hasher.update(line + b"\n")
    return ParsedChain(records, tuple(unread), flaw, tuple(accepted))


def offset_after(data: bytes, record_hash: str) -> int:
    """Where the line ends of the record with this hash; -1 where it is not there."""
    suffix = _hash_suffix(record_hash) + b"\n"
    at = data.find(suffix)
    return at + len(suffix) if at >= 0 else -1


def find_log_name(data: bytes) -> str:
    """What a ledger is called, by the last of its lines that can be read; nothing where none can."""
    for line in reversed(data.split(b"\n")[:-1]):
        record, _ = _try_parse(line)
        if record is not None:
            return record.ledger
    return ""


def _accepted_problems(record: AuditRecord) -> list[str]:
    """What a record has accepted, in words."""
    return [str(problem) for name in ("why", "doubts") for problem in as_list(record.said.get(name))]


def as_list(value: object) -> list[Any]:
    """A list that a record should hold; an empty one for what is none, whoever has written it."""
    return value if isinstance(value, list) else []


def _try_parse(line: bytes) -> tuple[AuditRecord | None, str]:
    try:
        return parse_record(line), ""
    except ValueError as error:
        return None, str(error)


def _claimed_number(line: bytes) -> int | None:
    """The number that a line gives itself, which is no record."""
    try:
        seq = json.loads(line)["seq"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return seq if type(seq) is int else None


def _hash_suffix(record_hash: str) -> bytes:
    return f',"hash":"{record_hash}"}}'.encode("utf-8", "backslashreplace")
