"""Records of comments: written and read again, damaged, and merged."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.plan.plan_anchors import ANCHOR_KINDS, PLAN, Anchor
from execplan.team.review.comment_threads import (
    COMMENT,
    RECORD_KINDS,
    CommentRecord,
    build_threads,
    parse_records,
    without_conflict_markers,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ANCHORS = st.builds(
    lambda kind, text, occurrence, later: Anchor(kind, text, occurrence, occurrence + later),
    st.sampled_from([kind for kind in ANCHOR_KINDS if kind != PLAN]),
    TEXTS,
    st.integers(1, 9),
    st.integers(0, 3),
)


def new_record_id() -> str:
    return f"c{uuid4().hex}"


COMMENTS = st.builds(
    lambda author, text, anchor: CommentRecord(
        new_record_id(), COMMENT, "2026-01-31T12:00:00Z", author, text, anchor=anchor
    ),
    TEXTS,
    TEXTS,
    ANCHORS | st.just(Anchor(PLAN)),
)
LINE = CommentRecord("c1", COMMENT, "2026-01-31T12:00:00Z", "Ann", "Why?").to_line()


def lines_of(records: list[CommentRecord]) -> bytes:
    return "".join([record.to_line() for record in records]).encode()


@given(st.lists(COMMENTS, max_size=5), st.data())
def test_records_are_read_as_they_were_written(comments: list[CommentRecord], data: st.DataObject) -> None:
    records = list(comments)
    for comment in comments:
        kind = data.draw(st.sampled_from([kind for kind in RECORD_KINDS if kind != COMMENT]))
        records.append(CommentRecord(new_record_id(), kind, comment.time, "Bob", data.draw(TEXTS), comment.id))
    parsed = parse_records(lines_of(records))
    assert parsed.problems == ()
    assert [record._replace(line=0) for record in parsed.records] == records
    assert [record.line for record in parsed.records] == list(range(1, len(records) + 1))


@given(st.lists(COMMENTS, max_size=4), st.binary(max_size=40))
def test_a_damaged_line_costs_only_itself(comments: list[CommentRecord], damage: bytes) -> None:
    damage = b"\xff" + damage.replace(b"\n", b" ")
    before, after = comments[: len(comments) // 2], comments[len(comments) // 2 :]
    parsed = parse_records(lines_of(before) + damage + b"\n" + lines_of(after))
    assert [record._replace(line=0) for record in parsed.records] == comments
    assert [problem.line for problem in parsed.problems] == [len(before) + 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a comment"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        (LINE.replace('"kind": "comment"', '"kind": "vote"', 1), "unknown kind 'vote'"),
        (LINE.replace('"text": "Why?"', '"text": 3'), "`text` is missing"),
        (LINE.replace('"author": "Ann", ', ""), "`author` is missing"),
        (LINE.replace('"kind": "plan"', '"kind": "page"'), "unknown kind 'page'"),
        (LINE.replace('{"kind": "plan"}', "3"), "`on` is missing"),
        (LINE.replace('"kind": "plan"', '"kind": "plan", "occurrence": true'), "not a positive number"),
        (LINE.replace("12:00:00Z", "noon"), "not a timestamp"),
        (LINE.replace('"c1"', '"../c1"'), "not the ID"),
        (LINE.strip() + LINE, "text after its end"),
        ("[" * 100_000, "not a comment"),
        (CommentRecord("c2", "reply", "2026-01-31T12:00:00Z", "Ann", "x", "c9").to_line(), "does not have"),
    ],
)
def test_what_is_wrong_with_a_line_is_reported(line: str, message: str) -> None:
    problems = parse_records(line.strip("\n").encode() + b"\n").problems
    assert [problem.line for problem in problems] == [1]
    assert message in problems[0].message


def test_both_sides_of_a_conflict_are_used() -> None:
    ours, theirs = [CommentRecord(new_record_id(), COMMENT, "2026-01-31T12:00:00Z", "Ann", text) for text in "ab"]
    base = CommentRecord(new_record_id(), COMMENT, "2026-01-31T11:00:00Z", "Ann", "base")
    marked = (
        lines_of([base])
        + b"<<<<<<< HEAD\n"
        + lines_of([ours])
        + b"||||||| 1234567\n=======\n"
        + lines_of([base, theirs])
        + b">>>>>>> other\n"
    )
    parsed = parse_records(marked)
    assert [thread.comment.text for thread in build_threads(parsed.records)] == ["base", "a", "b"]
    assert [problem.line for problem in parsed.problems] == [2, 4, 5, 8]
    assert parse_records(without_conflict_markers(marked)).problems == ()


def test_two_records_with_one_id_are_reported() -> None:
    other = LINE.replace("Why?", "What?")
    parsed = parse_records((LINE + LINE + other).encode())
    assert [record.text for record in parsed.records] == ["Why?"]
    assert [problem.line for problem in parsed.problems] == [3]
