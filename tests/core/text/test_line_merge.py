"""Three versions of some lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from execplan.core.text.line_merge import Chunk, merge_chunks

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12)


def merged_text(base: str, ours: str, theirs: str) -> list[str]:
    """The merged characters, a conflict as `<ours|theirs>`."""
    return [
        "".join(chunk.merged) if chunk.merged is not None else f"<{''.join(chunk.ours)}|{''.join(chunk.theirs)}>"
        for chunk in merge_chunks(base, ours, theirs)
    ]


def test_each_side_changes_another_place() -> None:
    assert "".join(merged_text("abcdef", "aXcdef", "abcdYf")) == "aXcdYf"
    assert "".join(merged_text("abcdef", "bcdef", "abcdefg")) == "bcdefg"


def test_the_same_change_on_both_sides_is_one() -> None:
    assert "".join(merged_text("abc", "aXc", "aXc")) == "aXc"


def test_what_both_changed_is_a_conflict() -> None:
    assert merged_text("abc", "aXc", "aYc") == ["a", "<X|Y>", "c"]
    assert merged_text("ac", "aXc", "aYc") == ["a", "<X|Y>", "c"]
    assert merged_text("abc", "ac", "aYc") == ["a", "<|Y>", "c"]


@given(LINES, LINES, LINES)
def test_the_parts_join_to_the_versions(base: list[str], ours: list[str], theirs: list[str]) -> None:
    chunks = merge_chunks(base, ours, theirs)
    for at, version in enumerate((base, ours, theirs)):
        assert [line for chunk in chunks for line in chunk[at]] == version


@given(LINES, LINES)
def test_one_side_alone_wins(base: list[str], changed: list[str]) -> None:
    for chunks in (
        merge_chunks(base, changed, base),
        merge_chunks(base, base, changed),
        merge_chunks(base, changed, changed),
    ):
        assert [line for chunk in chunks for line in chunk.merged or ()] == changed
        assert all(chunk.merged is not None for chunk in chunks)


def test_chunks_are_as_long_as_they_can_be() -> None:
    assert merge_chunks("abc", "abc", "abc") == [Chunk(tuple("abc"), tuple("abc"), tuple("abc"))]
