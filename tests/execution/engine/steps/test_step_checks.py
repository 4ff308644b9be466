"""What a command printed, compared with what it should have printed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.execution.engine.steps.step_checks import find_difference, find_missing_line


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("", ""),
        ("", "\n\n"),
        ("ok\n", "ok"),
        ("ok", "ok\r\n\n"),
        ("12 passed in …", "12 passed in 0.3 s\n"),
        ("…", ""),
        ("…", "a\nb\nc"),
        ("a\n…\nd", "a\nb\nc\nd\n"),
        ("…b…", "abc"),
        ("a…a", "aa"),
        ("…\n12 passed", "one\ntwo\n\n12 passed"),
        ("……x", "x"),
        ("…\nok\n…", "ok"),
        ("…\nok\n…", "one\nok\ntwo"),
        ("a\n…\nd", "a\nd"),
        ("a\n…\n…\nd", "a\nd"),
        (" indented", " indented"),
        ("2 passed in …", "..\n\n2 passed in 0.01s\n"),
        ("a\nc", "a\nb\nc\nd"),
        ("a\na", "a\na"),
    ],
)
def test_as_expected(expected: str, printed: str) -> None:
    assert find_difference(expected, printed) == ""


@pytest.mark.parametrize(
    ("expected", "printed", "told"),
    [
        ("ok", "OK", "line 1 of the expected output, 'ok', is not in the output"),
        ("ok", "", "line 1 of the expected output, 'ok', is not in the output"),
        ("", "ok", "line 1 of the expected output, '', is not in the output"),
        ("a\nb\nc", "a\nx\nc", "line 2 of the expected output, 'b', is not in the output from line 2 on"),
        ("b\na", "a\nb", "line 2 of the expected output, 'a', is not in the output from line 3 on"),
        ("ok", "ok ", "line 1 of the expected output, 'ok', is not in the output"),
        ("12 passed…", "1 failed", "line 1 of the expected output, '12 passed…', is not in the output"),
        ("a…a", "a", "line 1 of the expected output, 'a…a', is not in the output"),
        (
            "a\n…\n12 passed",
            "a\n112 passed",
            "line 3 of the expected output, '12 passed', is not in the output from line 2 on",
        ),
        ("…\n42\n…", "142", "line 2 of the expected output, '42', is not in the output"),
        ("x" * 99, "y", "line 1 of the expected output, '" + "x" * 59 + "…', is not in the output"),
    ],
)
def test_the_first_difference_is_told_with_its_line(expected: str, printed: str, told: str) -> None:
    assert find_difference(expected, printed) == told


@given(st.text("ab\n…", max_size=12), st.text("ab\n", max_size=16))
def test_it_says_what_a_pattern_says(expected: str, printed: str) -> None:
    lines = [line for line in expected.rstrip("\n").split("\n") if line != "…"]
    pattern = "\\n(?:.*\\n)?".join([line.replace("…", ".*") for line in lines])
    pattern = rf"\n(?:.*\n)?{pattern}\n(?:.*\n)?" if lines else ".*"
    fits = re.fullmatch(pattern, "\n" + printed.rstrip("\n") + "\n", re.DOTALL) is not None
    assert (find_difference(expected, printed) == "") == fits


def test_what_would_keep_a_pattern_busy_for_years() -> None:
    assert find_difference("a…" * 5000 + "b", "a" * 1_000_000)


@pytest.mark.parametrize(
    ("expected", "printed", "line"),
    [
        ("…\nok\n…", ["ok"], ""),
        ("…\nok\n…", ["", "one\n  ok \n"], ""),
        ("…\nb\na\n…", ["a\nb"], ""),
        ("…\na  b\n…", ["see: a\tb there"], ""),
        ("…\n42\n…", ["142\n4 2"], "42"),
        ("…\na\nb\n…", ["a"], "b"),
    ],
)
def test_what_prose_says_may_stand_anywhere(expected: str, printed: list[str], line: str) -> None:
    assert find_missing_line(expected, printed) == line
