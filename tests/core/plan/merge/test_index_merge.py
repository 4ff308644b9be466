"""Rows of plan indexes: each side's changes are kept, and nothing conflicts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from execplan.core.plan.index_block import NO_PLANS
from execplan.core.plan.merge.index_merge import merge_index_lines

HEAD = ["| Plan | Done | Last change |", "| --- | --- | --- |"]
TAIL = ["", "Archived plans: [archive](archive/)"]


def index(rows: dict[str, str]) -> list[str]:
    """An index with a row for each plan."""
    lines = [f"| [Title]({name}.md) | {done} | 2026-01-0{len(done)} |" for name, done in sorted(rows.items())]
    return [*HEAD, *lines, *TAIL] if rows else [NO_PLANS, *TAIL]


def test_each_side_ticks_its_own_plan() -> None:
    base, ours, theirs = {"a": "0", "b": "0"}, {"a": "1", "b": "0"}, {"a": "0", "b": "1"}
    assert merge_index_lines(index(base), index(ours), index(theirs)) == (index({"a": "1", "b": "1"}), 0)


def test_a_plan_is_added_on_each_side() -> None:
    merged = merge_index_lines(index({}), index({"b": "0"}), index({"a": "0"}))
    assert merged == (index({"a": "0", "b": "0"}), 0)


def test_an_archived_plan_stays_out() -> None:
    base = {"a": "0", "b": "0"}
    assert merge_index_lines(index(base), index({"b": "0"}), index({"a": "0", "b": "1"})) == (index({"b": "1"}), 0)


def test_of_two_changes_of_a_row_the_later_is_kept() -> None:
    base, ours, theirs = index({"a": "0"}), index({"a": "1"}), index({"a": "12"})
    assert merge_index_lines(base, ours, theirs) == (theirs, 1)
    assert merge_index_lines(base, theirs, ours) == (theirs, 1)


_ROWS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["0", "11", "123"]))


@given(_ROWS, _ROWS, _ROWS)
def test_merge_is_row_by_row(base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]) -> None:
    lines, contested = merge_index_lines(index(base), index(ours), index(theirs))
    expected: dict[str, str] = {}
    for name in {**ours, **theirs}:
        sides = {side.get(name) for side in (ours, theirs) if side.get(name) != base.get(name)}
        value = max([done for done in sides if done], key=len, default=None) if sides else base.get(name)
        if value is not None:
            expected[name] = value
    assert lines == index(expected)
    assert lines == merge_index_lines(index(base), index(theirs), index(ours)).lines
    assert contested == sum(
        [base.get(name) != ours.get(name) != theirs.get(name) != base.get(name) for name in {**base, **ours, **theirs}]
    )
