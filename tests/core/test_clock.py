"""Stamps: read in every shape that people write, checked against the calendar, written anew in the same shape."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.timestamps import placeholder_length, read_timestamp, write_timestamp

MOMENT = datetime(2026, 1, 1, 23, 30, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "stamp", "rest", "written"),
    [
        ("(2026-03-07 23:27Z) x", "(2026-03-07 23:27Z)", "x", "(2026-01-01 23:30Z)"),
        ("(2026-03-07) x", "(2026-03-07)", "x", "(2026-01-01)"),
        ("2026-03-07T23:27:05Z x", "2026-03-07T23:27:05Z", "x", "2026-01-01T23:30:05Z"),
        ("2026-03-07T23:27:05Z - x", "2026-03-07T23:27:05Z", "x", "2026-01-01T23:30:05Z"),
        ("2026-03-07T23:27:05Z: x", "2026-03-07T23:27:05Z", "x", "2026-01-01T23:30:05Z"),
        ("2026-03-07T23:27:05.123Z x", "2026-03-07T23:27:05.123Z", "x", "2026-01-01T23:30:05Z"),
        ("(2026-03-07T23:27Z) x", "(2026-03-07T23:27Z)", "x", "(2026-01-01T23:30Z)"),
        ("2026-03-07 x", "2026-03-07", "x", "2026-01-01"),
        ("2026-03-07: x", "2026-03-07", "x", "2026-01-01"),
        ("2026-03-07：x", "2026-03-07", "x", "2026-01-01"),
        ("2026-03-07 23:27Z x", "2026-03-07 23:27Z", "x", "2026-01-01 23:30Z"),
        ("(2026-03-07 23:27 EDT) x", "(2026-03-07 23:27 EDT)", "x", "(2026-01-01 23:30Z)"),
        ("(2026-03-07 America/New_York) x", "(2026-03-07 America/New_York)", "x", "(2026-01-01)"),
        ("(2026-03-07 23:27) x", "(2026-03-07 23:27)", "x", "(2026-01-01 23:30)"),
        ("(2026-03-07 23:27+08) x", "(2026-03-07 23:27+08)", "x", "(2026-01-02 07:30+08)"),
        ("(2026-03-07 23:27-0400) x", "(2026-03-07 23:27-0400)", "x", "(2026-01-01 19:30-0400)"),
        ("(2026-03-07 23:27 +08:00) x", "(2026-03-07 23:27 +08:00)", "x", "(2026-01-02 07:30 +08:00)"),
        ("(2026-03-07T23:27:00-06:00) x", "(2026-03-07T23:27:00-06:00)", "x", "(2026-01-01T17:30:05-06:00)"),
        ("(2026-04-21 00:49Z GREEN) x", "(2026-04-21 00:49Z GREEN)", "x", "(2026-01-01 23:30Z)"),
        ("(2026-04-21 RED) x", "(2026-04-21 RED)", "x", "(2026-01-01)"),
    ],
)
def test_shapes(words: str, stamp: str, rest: str, written: str) -> None:
    timestamp = read_timestamp(words)
    assert timestamp is not None
    assert timestamp.text == stamp
    assert words[len(timestamp.text) + len(timestamp.separator) :] == rest
    assert timestamp.is_valid
    assert write_timestamp(MOMENT, timestamp) == written


@pytest.mark.parametrize(
    "words",
    ["x", "(pre-satisfied) x", "(YYYY-MM-DD HH:MM) x", "2026-3-7 x", "20260307 x", "2026-03-07x", "", "(2026-03-07"],
)
def test_no_stamp(words: str) -> None:
    assert read_timestamp(words) is None


@pytest.mark.parametrize(
    "words",
    ["2026-02-29", "2026-13-01", "0000-01-01", "2026-04-31", "2026-01-00", "(2026-01-01 24:00Z)", "(2026-01-01 10:60)",
     "(2026-01-01 10:00+1500)"],
)  # fmt: skip
def test_impossible(words: str) -> None:
    timestamp = read_timestamp(words)
    assert timestamp is not None
    assert not timestamp.is_valid


@given(st.dates())
def test_every_date_of_the_calendar_is_possible(date: object) -> None:
    timestamp = read_timestamp(f"{date}")
    assert timestamp is not None
    assert timestamp.is_valid


@given(st.text())
def test_any_words(text: str) -> None:
    timestamp = read_timestamp(text)
    assert timestamp is None or text.startswith(timestamp.text + timestamp.separator)


@pytest.mark.parametrize(
    ("words", "size"),
    [("(YYYY-MM-DD HH:MM) x", 19), ("(YYYY-MM-DD) x", 13), ("YYYY-MM-DD HH:MMZ x", 18), ("(YYYY) x", 0), ("x", 0)],
)
def test_placeholder(words: str, size: int) -> None:
    assert placeholder_length(words) == size
