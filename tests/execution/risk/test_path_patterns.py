"""Path patterns match as the regular expression of all of them does."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.execution.risk.risk_table import SECRETS, RiskRow, _expression, builtin_table, matches_any, table_version

PATTERNS = tuple(
    {pattern for row in builtin_table().rows for pattern in (*row.path, *row.unless) if pattern != SECRETS}
)
PIECES = st.lists(st.sampled_from(["a", "B", "/", "**", "*", "?", "/**", "**/", ".", "[", "K", "\u212a"]), min_size=1)


@given(st.lists(st.sampled_from(["a", "b", "/", ".", "A", "[", "k", "\u212a", "\n"])), PIECES)
@example(["a", "/", "b"], ["A", "/**"])
@example(["a"], ["A", "/**"])
@example(["a", "/", "b"], ["a", "/", "*"])
def test_patterns_match_as_their_expression(path: list[str], pattern: list[str]) -> None:
    patterns = ("".join(pattern),)
    assert matches_any("".join(path), patterns) == bool(_expression(patterns).fullmatch("".join(path)))


@given(
    st.sampled_from(sorted(PATTERNS)), st.sampled_from(["", "x", "/x", "/", "X.Y"]), st.sampled_from(["", "src/", "/"])
)
def test_patterns_of_the_table_match_as_their_expression(pattern: str, filling: str, directory: str) -> None:
    path = directory + pattern.replace("**", filling).replace("*", filling)
    assert matches_any(path, (pattern,)) == bool(_expression((pattern,)).fullmatch(path))


def test_the_stored_version_is_the_digest_of_the_table() -> None:
    table = builtin_table()
    assert table.version == table_version(table.rows, table.values, table.bare, table.tasks)
    assert table_version([*table.rows, RiskRow("HIGH", "")], table.values, table.bare, table.tasks) != table.version
