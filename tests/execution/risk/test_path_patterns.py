"""Patterns that are matched without a regular expression match as with one."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.execution.risk.path_patterns import PathPatterns, compile_patterns
from execplan.execution.risk.risk_table import builtin_table

_PIECES = ["a", "B", "é", "K", "ſ", "s", ".", "-", "/", "/", "\n", "", "aa", "$HOME", "~"]
PATHS = st.lists(st.sampled_from(_PIECES), max_size=7).map("".join)
PATTERNS = st.lists(st.sampled_from([*_PIECES, "*", "**", "/**", "**/", "?"]), min_size=1, max_size=5).map("".join)
BUILTIN = [patterns for row in builtin_table().rows for patterns in (row.path, row.unless) if patterns]


def _agrees(path: str, patterns: tuple[str, ...]) -> bool:
    return PathPatterns(patterns).matches(path) == (compile_patterns(patterns).fullmatch(path) is not None)


@given(path=PATHS, patterns=st.lists(PATTERNS, min_size=1, max_size=3).map(tuple))
@example(path="/etc", patterns=("/etc/**",))
@example(path="/etc/", patterns=("/etc/**",))
@example(path="", patterns=("*",))
@example(path="/", patterns=("/**",))
@example(path="a\n", patterns=("a",))
@example(path="aa", patterns=("a*a*a",))
@example(path="\u212a", patterns=("k",))
@example(path="s", patterns=("\u017f",))
def test_they_match_like_the_regular_expression(path: str, patterns: tuple[str, ...]) -> None:
    assert _agrees(path, patterns)


@given(
    name=st.sampled_from(sorted({name for patterns in BUILTIN for name in patterns})),
    fill=st.sampled_from(["", "x", "x.y", "X/y"]),
    folder=st.sampled_from(["", "src/", "/", "Src/Tests/", "~/"]),
    rest=st.sampled_from(["", "/x", ".md", "/"]),
)
def test_the_rows_match_like_the_regular_expression(name: str, fill: str, folder: str, rest: str) -> None:
    path = f"{folder}{name.replace('**', fill).replace('*', fill)}{rest}"
    for text in (path, path.upper()):
        for patterns in BUILTIN:
            assert _agrees(text, patterns), (text, patterns)
