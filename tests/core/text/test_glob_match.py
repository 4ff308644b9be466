"""Glob patterns match as those of Python's fnmatch."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.core.text.pure_paths import matches_glob


@given(st.text("ab*?[]!\n"), st.text("ab*?[]!\n"))
@example("abab", "a*b*b")
@example("ab", "a?b")
@example("aab", "*?b")
@example("ab", "ab*b")
def test_globs_match_as_in_fnmatch(text: str, pattern: str) -> None:
    assert matches_glob(text, pattern) == fnmatchcase(text, pattern)
