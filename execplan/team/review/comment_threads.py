"""Records of review comments, one line of JSON each in a file that only grows, and their threads, open or resolved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_anchors import ANCHOR_KINDS, PLAN, Anchor
from execplan.core.text import fast_json
from execplan.core.text.text_lines import digest
from execplan.core.timestamps import is_utc_timestamp

COMMENT: Final = "comment"
REPLY: Final = "reply"
RESOLVE: Final = "resolve"
REOPEN: Final = "reopen"
RECORD_KINDS: Final = (COMMENT, REPLY, RESOLVE, REOPEN)
_ID_PREFIX: Final = "c"
_ID_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LENGTH: Final = 12
"""Number of digits of an ID after its prefix: 60 bits, so that different records never have the same one."""
_CONFLICT_MARKERS: Final = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_MIN_SHORT_ID: Final = 5
"""Minimum number of characters of a short ID."""


class CommentRecord(NamedTuple):
    """A comment, a reply to it, or a change of its state."""

    id: str
    """ID in the file; empty for a record that is not in a file yet."""
    kind: str
    """One of `RECORD_KINDS`."""
    time: str
    """UTC timestamp."""
    author: str
    text: str
    """Text in markdown, maybe of several lines; empty for a resolution without a reason."""
    to: str = ""
    """For all kinds except a comment, the ID of the comment."""
    anchor: Anchor = Anchor(PLAN)
    """For a comment, the part of the plan that it is about, as it was when the comment was made."""
    line: int = 0
    """Line in the file, from 1; 0 for a record that is not in a file yet."""

    def to_line(self) -> str:
        """Return the record as a line of JSON with a line end."""
        fields: dict[str, Any] = {"id": self.id, "kind": self.kind, "time": self.time, "author": self.author}
        if self.kind == COMMENT:
            fields["on"] = {"kind": self.anchor.kind}
            if self.anchor.kind != PLAN:
                fields["on"]["text"] = self.anchor.text
            if self.anchor.total > 1:
                fields["on"]["occurrence"] = self.anchor.occurrence
                fields["on"]["total"] = self.anchor.total
        else:
            fields["to"] = self.to
        return fast_json.write({**fields, "text": self.text}, has_spaces=True) + "\n"


class RecordProblem(NamedTuple):
    """Why a line of a file of comments is not used."""

    line: int
    """Line in the file, from 1."""
    message: str
    is_unreadable: bool = False
    """Whether the line can't be read, so that it may have been an open comment."""


class ParsedRecords(NamedTuple):
    """The records of a file, in file order, and its problems."""

    records: tuple[CommentRecord, ...] = ()
    problems: tuple[RecordProblem, ...] = ()


def derive_id(record: CommentRecord, plan_id: str, data: bytes) -> str:
    """Return the ID of a new record, derived from its fields, the plan's ID and the bytes of the file before it.

    On two branches, records have the same ID only if they are equal and were added to the same file in the same second.
    """
    bits = int(digest(f"{plan_id}\n{record.to_line()}".encode("utf-8", "surrogateescape") + data)[:15], 16)
    return _ID_PREFIX + "".join([_ID_DIGITS[bits >> shift & 31] for shift in range(5 * (_ID_LENGTH - 1), -1, -5)])


def parse_records(data: bytes) -> ParsedRecords:
    """Parse the lines of a file of comments; a damaged line is a problem, and the others are used.

    Of several records with one ID, which a merge of the lines may leave, the first is used. In a file with conflict
    markers, both sides are used.
    """
    records: dict[str, CommentRecord] = {}
    problems = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        if line.startswith(_CONFLICT_MARKERS):
            problems.append(RecordProblem(number, "a git conflict marker; both sides are used"))
            continue
        try:
            record = _parse_line(line, number)
        except (ValueError, RecursionError) as error:
            problems.append(RecordProblem(number, f"not a comment: {error}", is_unreadable=True))
            continue
        first_record = records.setdefault(record.id, record)
        if first_record._replace(line=0) != record._replace(line=0):
            problems.append(RecordProblem(number, f"another record has the ID {record.id}; the first one is used"))
    comment_ids = {record.id for record in records.values() if record.kind == COMMENT}
    problems += [
        RecordProblem(record.line, f"a {record.kind} to the comment {record.to}, which the file does not have")
        for record in records.values()
        if record.kind != COMMENT and record.to not in comment_ids
    ]
    return ParsedRecords(tuple(records.values()), tuple(sorted(problems)))


def without_conflict_markers(data: bytes) -> bytes:
    """Return the lines of a file without git's conflict markers: of lines that are only added, both sides are kept."""
    lines = data.split(b"\n")
    return b"\n".join([line for line in lines if not line.startswith(_CONFLICT_MARKERS)])


def _parse_line(line: bytes, number: int) -> CommentRecord:
    """Parse a line; raises ValueError, or RecursionError for extreme nesting."""
    fields = fast_json.read(line.decode("utf-8"))
    if not isinstance(fields, dict):
        raise ValueError("the line is not a JSON object")  # noqa: TRY004 - damaged data, not a wrong argument
    kind = _text_field(fields, "kind")
    if kind not in RECORD_KINDS:
        raise ValueError(f"unknown kind {kind[:40]!r}; a newer version of execplan may have written it")
    record = CommentRecord(
        _text_field(fields, "id"),
        kind,
        _text_field(fields, "time"),
        _text_field(fields, "author"),
        _text_field(fields, "text"),
        "" if kind == COMMENT else _text_field(fields, "to"),
        _parse_anchor(fields.get("on")) if kind == COMMENT else Anchor(PLAN),
        number,
    )
    if not record.id.startswith(_ID_PREFIX) or not record.id.isalnum() or not record.id.isascii():
        raise ValueError(f"{record.id[:40]!r} is not the ID of a record")
    if not is_utc_timestamp(record.time):
        raise ValueError(f"the time {record.time[:40]!r} is not a timestamp such as 2026-01-31T12:00:00Z")
    return record


def _parse_anchor(value: object) -> Anchor:
    if not isinstance(value, dict):
        raise ValueError("`on` is missing or not an object")  # noqa: TRY004 - damaged data, not a wrong argument
    kind, occurrence = _text_field(value, "kind"), value.get("occurrence", 1)
    total = value.get("total", occurrence)  # older comments do not have it
    if kind not in ANCHOR_KINDS:
        raise ValueError(f"`on` has the unknown kind {kind[:40]!r}")
    if type(occurrence) is not int or occurrence < 1:
        raise ValueError("`occurrence` is not a positive number")
    if type(total) is not int or total < occurrence:
        raise ValueError("`total` is not a number, or less than `occurrence`")
    return Anchor(kind, "" if kind == PLAN else _text_field(value, "text"), occurrence, total)


def _text_field(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise ValueError(f"`{name}` is missing or not a string")  # noqa: TRY004 - damaged data, not a wrong argument
    return value


def sort_records(records: Iterable[CommentRecord]) -> list[CommentRecord]:
    """Return records in the order of time; those of the same second in the order of the file."""
    return sorted(records, key=lambda record: (record.time, record.line))


class CommentThread(NamedTuple):
    """A comment with what was said and done about it, in the order of time."""

    comment: CommentRecord
    replies: tuple[CommentRecord, ...]
    """Replies, and resolutions and reopenings with or without a text."""
    is_open: bool
    short_id: str
    """Beginning of the comment's ID that no other record of the plan has."""

    @property
    def last_time(self) -> str:
        """Return the UTC timestamp of the latest record."""
        return max([self.comment.time, *[reply.time for reply in self.replies]])

    def to_json(self) -> dict[str, Any]:
        """Return the thread's JSON form, without its place in the plan."""
        comment = self.comment
        return {
            "id": comment.id,
            "short_id": self.short_id,
            "open": self.is_open,
            "author": comment.author,
            "time": comment.time,
            "text": comment.text,
            "replies": [
                {"id": reply.id, "kind": reply.kind, "author": reply.author, "time": reply.time, "text": reply.text}
                for reply in self.replies
            ],
        }


def build_threads(records: Iterable[CommentRecord]) -> tuple[CommentThread, ...]:
    """Return the threads of a plan's records, the oldest first; records without their comment are left out."""
    ordered = sort_records(records)
    replies: dict[str, list[CommentRecord]] = {record.id: [] for record in ordered if record.kind == COMMENT}
    for record in ordered:
        if record.kind != COMMENT and record.to in replies:
            replies[record.to].append(record)
    short_ids = _short_ids([record.id for record in ordered])
    return tuple(
        [
            CommentThread(comment, tuple(replies[comment.id]), _is_open(replies[comment.id]), short_ids[comment.id])
            for comment in ordered
            if comment.kind == COMMENT
        ]
    )


def find_thread(threads: Sequence[CommentThread], query: str, show_command: str) -> CommentThread:
    """Return the thread of the comment whose ID begins with a query; raises ExecplanError for none or several.

    `show_command` prints the comments, for the hint.
    """
    matches = match_threads(threads, query)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ExecplanError(
            "ambiguous-comment",
            f"{query!r} matches {len(matches)} comments",
            hint="use more characters of the comment's ID",
            candidates=[describe_thread(thread) for thread in matches],
        )
    raise ExecplanError(
        "no-such-comment",
        f"no comment has an ID that begins with {query!r}",
        hint=f"see the comments: {show_command}",
        candidates=[describe_thread(thread) for thread in threads if thread.is_open],
    )


def match_threads(threads: Iterable[CommentThread], query: str) -> list[CommentThread]:
    """Return the threads of the comments whose IDs begin with a query; none for an empty query."""
    prefix = query.strip().lower()
    return [thread for thread in threads if prefix and thread.comment.id.startswith(prefix)]


def describe_thread(thread: CommentThread) -> str:
    """Describe a comment in one line: its short ID, its author and its text."""
    return f"{thread.short_id}  {thread.comment.author}: {' '.join(thread.comment.text.split())}"


def _is_open(replies: Sequence[CommentRecord]) -> bool:
    changes = [reply.kind for reply in replies if reply.kind in (RESOLVE, REOPEN)]
    return not changes or changes[-1] == REOPEN


def _short_ids(ids: Sequence[str]) -> dict[str, str]:
    """Return the shortest beginning of each ID that no other one has."""
    ordered = sorted(ids)
    lengths = dict.fromkeys(ordered, _MIN_SHORT_ID)
    for left, right in pairwise(ordered):
        shared = next((index for index, pair in enumerate(zip(left, right, strict=False)) if len(set(pair)) > 1), 0)
        shared = shared or min(len(left), len(right))
        lengths[left], lengths[right] = max(lengths[left], shared + 1), max(lengths[right], shared + 1)
    return {record_id: record_id[:length] for record_id, length in lengths.items()}
