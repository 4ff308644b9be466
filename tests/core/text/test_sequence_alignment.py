"""Which elements of two sequences are the same, and lines merged with markers."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.text.line_merge import ConflictMarkers, merge_with_markers
from execplan.core.text.sequence_alignment import align_sequences

if TYPE_CHECKING:
    from collections.abc import Sequence

SEQUENCES = st.lists(st.sampled_from("abcdefgh"), max_size=30)


@given(SEQUENCES, SEQUENCES)
def test_pairs_are_equal_and_rise(left: list[str], right: list[str]) -> None:
    pairs = align_sequences(left, right)
    assert all(left[at] == right[to] for at, to in pairs)
    assert all(before < after for side in zip(*pairs, strict=True) for before, after in pairwise(side))


@given(SEQUENCES)
def test_a_sequence_is_all_itself(sequence: list[str]) -> None:
    assert align_sequences(sequence, sequence) == [(at, at) for at in range(len(sequence))]


@given(SEQUENCES, SEQUENCES, SEQUENCES)
def test_what_was_put_in_is_all_that_differs(start: list[str], end: list[str], new: list[str]) -> None:
    marked = [element.upper() for element in new]
    assert align_sequences(start + end, start + marked + end) == [
        (at, at + (at >= len(start)) * len(new)) for at in range(len(start) + len(end))
    ]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x" * 30000, "x" * 20000 + "y" + "x" * 20000),
        ("xy" * 20000, "yyx" * 15000),
        ("x" * 20000 + "y", "z" + "x" * 9000),
    ],
)
def test_repetition_ends(one: Sequence[str], two: Sequence[str]) -> None:
    assert len(align_sequences(one, two)) <= min(len(one), len(two))


def test_only_what_differs_stands_between_markers() -> None:
    base, ours, theirs = (["a\n", middle, "c\n"] for middle in ("b\n", "x\ny\n", "x\nz\n"))
    base, ours, theirs = ("".join(side).splitlines(keepends=True) for side in (base, ours, theirs))
    expected = ["a\n", "x\n", "<<<<<<<< HEAD\n", "y\n", "========\n", "z\n", ">>>>>>>> topic\n", "c\n"]
    assert merge_with_markers(base, ours, theirs, ConflictMarkers(8, "HEAD", "topic")) == (expected, 1)


def test_a_side_without_lines_and_without_a_name() -> None:
    assert merge_with_markers(["a\r\n"], [], ["b\r\n"], ConflictMarkers(7, "", "")) == (
        ["<<<<<<<\r\n", "=======\r\n", "b\r\n", ">>>>>>>\r\n"],
        1,
    )
