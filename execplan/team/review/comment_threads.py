"""Threads of review comments: each comment with its replies, and whether it is open or resolved."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.core.errors import INPUT, ExecplanError
from execplan.team.review.comment_records import COMMENT, REOPEN, RESOLVE, CommentRecord, sort_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MIN_SHORT_ID: Final = 5
"""Minimum number of characters of a short ID."""


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
            exit=INPUT,
            hint="use more characters of the comment's ID",
            candidates=[describe_thread(thread) for thread in matches],
        )
    raise ExecplanError(
        "no-such-comment",
        f"no comment has an ID that begins with {query!r}",
        exit=INPUT,
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
