"""Threads: which comments are open, in which order they are, and how their IDs are shortened."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.team.review.comment_threads import (
    COMMENT,
    REOPEN,
    REPLY,
    RESOLVE,
    CommentRecord,
    build_threads,
    find_thread,
    parse_records,
)


def record(record_id: str, kind: str, minute: int, to: str = "") -> CommentRecord:
    return CommentRecord(record_id, kind, f"2026-01-31T12:{minute:02}:00Z", "Ann", record_id, to)


RECORDS = (
    record("ca", COMMENT, 1),
    record("cb", COMMENT, 2),
    record("cr", REPLY, 3, "ca"),
    record("cs", RESOLVE, 4, "ca"),
    record("ct", REOPEN, 5, "ca"),
)


def test_every_order_of_the_lines_gives_the_same_threads() -> None:
    results = set()
    for order in permutations(RECORDS):
        parsed = parse_records("".join([line.to_line() for line in order]).encode())
        assert parsed.problems == ()
        threads = build_threads(parsed.records)
        results.add(
            tuple(
                [
                    (thread.comment.id, thread.is_open, tuple([reply.id for reply in thread.replies]))
                    for thread in threads
                ]
            )
        )
    assert results == {(("ca", True, ("cr", "cs", "ct")), ("cb", True, ()))}


def test_the_last_change_of_the_state_counts() -> None:
    assert [thread.is_open for thread in build_threads(RECORDS[:4])] == [False, True]
    assert [thread.is_open for thread in build_threads([*RECORDS, record("cu", REPLY, 6, "ca")])] == [True, True]


@given(st.sets(st.text("ab1", min_size=1, max_size=9).map("c".__add__), min_size=1, max_size=20))
def test_a_short_id_names_one_comment(ids: set[str]) -> None:
    threads = build_threads([record(record_id, COMMENT, 1) for record_id in sorted(ids)])
    for thread in threads:
        others = [other for other in ids if other != thread.comment.id]
        assert thread.comment.id.startswith(thread.short_id)
        if not any(other.startswith(thread.comment.id) for other in others):
            assert find_thread(threads, thread.short_id, "").comment.id == thread.comment.id


@pytest.mark.parametrize(
    ("query", "code"), [("", "no-such-comment"), ("x", "no-such-comment"), ("c", "ambiguous-comment")]
)
def test_a_comment_that_is_not_named_is_an_error(query: str, code: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        find_thread(build_threads(RECORDS), query, "execplan show p --comments")
    assert (caught.value.code, caught.value.exit) == (code, 3)
    assert len(caught.value.candidates) == 2
