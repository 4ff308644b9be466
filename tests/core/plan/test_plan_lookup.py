"""Which task became which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.plan.plan_lookup import expand_numbers, match_edited_tasks

TEXTS = st.lists(st.sampled_from("abcd"), max_size=8)


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        ("abc", "abc", [(0,), (1,), (2,)]),
        ("abc", "axc", [(0,), (1,), (2,)]),
        ("abc", "axyc", [(0,), (1, 2), (3,)]),
        ("axyc", "abc", [(0,), (1,), (1,), (2,)]),
        ("abc", "cab", [(1,), (2,), (0,)]),
        ("abc", "ac", [(0,), (), (1,)]),
        ("abc", "xabc", [(1,), (2,), (3,)]),
        ("aa", "xa", [(0,), (1,)]),
        ("aa", "ax", [(0,), (1,)]),
        ("aa", "xya", [(0, 1), (2,)]),
        ("", "a", []),
        ("ab", "xyz", [(), ()]),
    ],
)
def test_places(before: str, after: str, places: list[tuple[int, ...]]) -> None:
    assert match_edited_tasks(before, after) == places


@given(TEXTS, TEXTS)
def test_places_are_places(before: list[str], after: list[str]) -> None:
    matches = match_edited_tasks(before, after)
    assert len(matches) == len(before)
    assert all(at in range(len(after)) for to in matches for at in to)


@given(TEXTS)
def test_what_is_not_edited_stays(texts: list[str]) -> None:
    assert match_edited_tasks(texts, texts) == [(at,) for at in range(len(texts))]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("2", ["2"]),
        ("1-3", ["1", "2", "3"]),
        ("1,2,5", ["1", "2", "5"]),
        ("1-2, 5 - 6", ["1", "2", "5", "6"]),
        ("3-1", ["3-1"]),
        ("2025-12-30", ["2025-12-30"]),
        ("1-", ["1-"]),
        ("t6a76z2-2", ["t6a76z2-2"]),
        ("1,x", ["1,x"]),
        ("1-99999", ["1-99999"]),
        ("¹-²", ["¹-²"]),
    ],
)
def test_lists_of_numbers(query: str, numbers: list[str]) -> None:
    assert expand_numbers([query]) == tuple(numbers)
