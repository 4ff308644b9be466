"""A file with some of the places of a patch changed: exactly those, each as a whole."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from execplan.execution.evaluation.patch import Hunk, is_partially_applied

LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n"]), max_size=3)


@st.composite
def patched(draw: st.DrawFn) -> tuple[list[str], list[Hunk]]:
    """A file of few different lines, so that much fits at many places, and hunks that apply to it."""
    lines: list[str] = []
    hunks = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(LINES)
        old, new = draw(LINES), draw(LINES)
        hunks.append(Hunk("", len(lines), tuple(old), tuple(new)))
        lines += old
    return [*lines, *draw(LINES)], hunks


def _apply_hunks(lines: list[str], hunks: list[Hunk], chosen: tuple[bool, ...]) -> bytes:
    result_lines: list[str] = []
    at = 0
    for hunk, is_chosen in zip(hunks, chosen, strict=True):
        result_lines += [*lines[at : hunk.start], *(hunk.new if is_chosen else hunk.old)]
        at = hunk.start + len(hunk.old)
    return "".join([*result_lines, *lines[at:]]).encode()


@given(patched(), st.lists(st.sampled_from(["a\n", "b\n", "\n", "c"]), max_size=9))
def test_a_file_is_partly_patched_where_some_of_the_hunks_give_it(
    case: tuple[list[str], list[Hunk]], other: list[str]
) -> None:
    lines, hunks = case
    before = "".join(lines).encode()
    variants = {_apply_hunks(lines, hunks, chosen) for chosen in product((False, True), repeat=len(hunks))}
    assert all([is_partially_applied(before, variant, hunks) for variant in variants])
    given_bytes = "".join(other).encode()
    assert is_partially_applied(before, given_bytes, hunks) == (given_bytes in variants)
