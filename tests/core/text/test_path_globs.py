"""Patterns of paths: what they match, against an independent translation to regular expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from execplan.core.text.path_globs import escape_glob, matches_path_glob
from execplan.execution.documents.written_paths import glob_directory


def translated(pattern: str) -> str:
    """The regular expression of a pattern without brackets."""
    parts = []
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    for number, name in enumerate(names):
        is_last = number == len(names) - 1
        if name == "**":
            parts.append("(?:[^/]+(?:/[^/]+)*)" if is_last else "(?:[^/]+/)*")
        else:
            text = "".join([{"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in name])
            parts.append(text + ("" if is_last else "/"))
    return "".join(parts)


NAMES = some.sampled_from(["a", "b", "ab", "a.py", "b.py", "[a]"])
PARTS = some.sampled_from(["a", "*", "?", "*.py", "**", "a*", ".", "b"])


@given(some.lists(NAMES, min_size=1, max_size=5), some.lists(PARTS, min_size=1, max_size=5))
def test_it_matches_what_the_regular_expression_matches(names: list[str], parts: list[str]) -> None:
    path, pattern = "/".join(names), "/".join(parts)
    if set(parts) != {"."}:
        assert matches_path_glob(path, pattern) == bool(re.fullmatch(translated(pattern), path)), (path, pattern)


@given(some.lists(NAMES, min_size=1, max_size=4), some.lists(NAMES, min_size=1, max_size=4))
def test_an_escaped_path_matches_only_itself(names: list[str], other: list[str]) -> None:
    path, other_path = "/".join(names), "/".join(other)
    assert matches_path_glob(other_path, escape_glob(path)) == (path == other_path)


def test_many_stars_take_no_time() -> None:
    assert not matches_path_glob("/".join(["a"] * 60), "/".join(["**", "a"] * 30 + ["b"]))


@pytest.mark.parametrize(
    ("pattern", "directory"),
    [("src/**/*.py", "src"), ("*.py", "."), ("src/a.py", "src"), ("a/b/c?/d", "a/b"), ("**", "."), ("./a/*", "a")],
)
def test_the_directory_of_all_matches(pattern: str, directory: str) -> None:
    assert glob_directory(pattern) == directory
