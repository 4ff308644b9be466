"""The hash chain of audit log records: each JSON line contains the previous line's hash, so that edits are detected."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.text import fast_json
from execplan.core.text.text_lines import digest
from execplan.execution.engine.journal.journal import MERGE_MARKER, is_merge_marker

ACCEPTED: Final = "accepted"
"""Kind of the record that accepts a broken audit log.

Fields: reason, why (the flaw that was found, and what was lost), lost (seq and hash that the anchor knew, or null),
doubts (other differences from the audit log). `prev` is the SHA-256 of all bytes before the record, so that exactly
these bytes are accepted.
"""
START: Final = ""
"""Value of `prev` in the first record."""
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
    """A record of an audit log, stored as one line."""

    seq: int
    """Record number from 1, without gaps; it defines the order, not the time."""
    at: str
    """UTC time of the system clock, which may have been reset meanwhile."""
    kind: str
    """Kind of a journal entry, or one of approved, not_given, declined, revoked, enhancing, enhanced and accepted."""
    ledger: str
    """Name of the audit log and its anchor, even if the plan has been renamed."""
    plan_id: str
    """ID of the plan when the record was written."""
    user: str
    """Login name of the user."""
    session: str | None
    """Session of the agent program, if known."""
    run: str | None
    entry: int | None
    """Number of the journal entry that this record covers."""
    line: str | None
    """SHA-256 of the journal entry's line."""
    said: dict[str, Any]
    """Other details, depending on the kind."""
    prev: str
    """Hash of the previous record."""
    hash: str = ""
    """SHA-256 of the line without this last member: `…,"prev":"…"}`."""


class Flaw(NamedTuple):
    """A place where an audit log is not as it was written, with the reason."""

    line: int
    """Line number from 1."""
    seq: int | None
    """Number of the record, if it has a readable one."""
    why: str

    def __str__(self) -> str:
        if self.seq is None:
            return f"line {self.line} {self.why}"
        return f"record {self.seq} on line {self.line} {self.why}"


class ParsedChain(NamedTuple):
    """An audit log that was read from the first to the last line."""

    records: list[AuditRecord]
    """Records whose hash matches their bytes, regardless of the lines around them."""
    unreadable: tuple[Flaw, ...]
    """All other lines, accepted or not."""
    flaw: Flaw | None
    """First flaw that is not accepted."""
    accepted: tuple[tuple[str, str], ...]
    """Accepted flaws and other differences, each with the reason for accepting it."""


def with_hash(record: AuditRecord) -> AuditRecord:
    """Return a copy of a record with its hash."""
    return record._replace(hash=digest(_encode_without_hash(record)))


def encode_record(record: AuditRecord) -> bytes:
    """Return the line of a record, with its newline."""
    return _encode_without_hash(record)[:-1] + _hash_suffix(record.hash) + b"\n"


def _encode_without_hash(record: AuditRecord) -> bytes:
    fields = record._asdict()
    del fields["hash"]
    fields["said"] = dict(sorted(record.said.items()))
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def parse_record(line: bytes) -> AuditRecord:
    """Parse a record from a line without its newline. Raises ValueError with a message if the line was altered."""
    try:
        fields = fast_json.loads(line)
        record = AuditRecord(**fields)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"is not an audit log record{f': {MERGE_MARKER}' if is_merge_marker(line) else ''}") from None
    if list(fields) != list(AuditRecord._fields) or not all(
        [type(value) in _TYPES[name] for name, value in fields.items()]
    ):
        raise ValueError("is not an audit log record")
    if line[-_SUFFIX_LENGTH:] != _hash_suffix(record.hash) or digest(line[:-_SUFFIX_LENGTH] + b"}") != record.hash:
        raise ValueError("doesn't match its hash: it was edited")
    return record


def sequence_error(record: AuditRecord, previous: AuditRecord | None) -> str:
    """Return why a record cannot follow another one, or None as the first; empty if it can."""
    number = previous.seq + 1 if previous is not None else 1
    if record.seq != number:
        return f"should be record {number}: a record was removed, inserted or moved"
    if previous is not None and record.ledger != previous.ledger:
        return f"belongs to audit log {record.ledger}"
    if record.prev != (previous.hash if previous is not None else START):
        return "doesn't follow the previous record: one of them was replaced"
    return ""


def parse_chain(data: bytes, previous: AuditRecord | None = None, anchored_size: int | None = None) -> ParsedChain:
    """Parse complete lines; check each against the previous one, and the first against a known record.

    Parsing continues after a flaw. Records after the first `anchored_size` bytes accept nothing: otherwise anyone who
    edits a record could also accept the edit.
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
    """Return the offset after the record with this hash; -1 if it is missing."""
    suffix = _hash_suffix(record_hash) + b"\n"
    at = data.find(suffix)
    return at + len(suffix) if at >= 0 else -1


def find_log_name(data: bytes) -> str:
    """Return the name of an audit log from its last readable line; empty if there is none."""
    for line in reversed(data.split(b"\n")[:-1]):
        record, _ = _try_parse(line)
        if record is not None:
            return record.ledger
    return ""


def _accepted_problems(record: AuditRecord) -> list[str]:
    """Return the texts of the problems that a record accepts."""
    return [str(problem) for name in ("why", "doubts") for problem in as_list(record.said.get(name))]


def as_list(value: object) -> list[Any]:
    """Return a value that should be a list; an empty list for anything else."""
    return value if isinstance(value, list) else []


def _try_parse(line: bytes) -> tuple[AuditRecord | None, str]:
    try:
        return parse_record(line), ""
    except ValueError as error:
        return None, str(error)


def _claimed_number(line: bytes) -> int | None:
    """Return the number in a line that is not a valid record, or None."""
    try:
        seq = fast_json.loads(line)["seq"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return seq if type(seq) is int else None


def _hash_suffix(record_hash: str) -> bytes:
    return f',"hash":"{record_hash}"}}'.encode("utf-8", "backslashreplace")
