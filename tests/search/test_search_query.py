"""Queries: words, phrases, prefixes, filters, and any other text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.errors import USAGE, ExecplanError
from execplan.search.search_query import SearchFilter, SearchWord, parse_query

QUERIES: dict[str, Any] = {
    "parser": ([("parser", False)], [], []),
    "pars* tables": ([("pars", True), ("tables", False)], [], []),
    '"read lines" x': ([("read lines", False), ("x", False)], [], []),
    '"read li"*': ([("read li", True)], [], []),
    '"never closed': ([("never closed", False)], [], []),
    "parser -tests": ([("parser", False)], [("tests", False)], []),
    '-"read lines" -pars*': ([], [("read lines", False), ("pars", True)], []),
    "--json -- -": ([("--json", False)], [], []),
    "c++ *** a-b NOT:x": ([("c++", False), ("a-b", False), ("NOT:x", False)], [], []),
    'a"b c"': ([('a"b', False), ('c"', False)], [], []),
    "in:decisions,tasks in:purpose": ([], [], [("in", ("decisions", "tasks", "purpose"), False)]),
    'IN:"plan of work, b"': ([], [], [("in", ("plan of work, b",), False)]),
    "-task:Done -task:other": ([], [], [("task", ("done", "other"), True)]),
    "before:2026-10-01 after:2026": ([], [], [("before", ("2026-10-01",), False), ("after", ("2026",), False)]),
    "日本語": ([("日本語", False)], [], []),
}


@pytest.mark.parametrize("query", QUERIES)
def test_queries(query: str) -> None:
    words, excluded_words, filters = QUERIES[query]
    parsed = parse_query(query)
    assert list(parsed.words) == [SearchWord(text, is_prefix) for text, is_prefix in words]
    assert list(parsed.excluded_words) == [SearchWord(text, is_prefix) for text, is_prefix in excluded_words]
    assert list(parsed.filters) == [SearchFilter(*fields) for fields in filters]


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("", "invalid-query", "no words"),
        ("*** ---", "invalid-query", "no words"),
        ("in:", "invalid-query", "in: has no value"),
        ("in:tasks,", "invalid-query", "in: has no value"),
        ('author:""', "invalid-query", "author: has no value"),
        ("before:2026-13", "invalid-query", "'2026-13'"),
        ("after:2026-02-30", "invalid-query", "'2026-02-30'"),
        ("after:20260101", "invalid-query", "'20260101'"),
        ("after:٢٠٢٦", "invalid-query", "requires a date"),
        ("task:closed", "unknown-filter-value", "'closed'"),
        ("state:stalled", "unknown-filter-value", "'stalled'"),
        ("a " * 101, "invalid-query", "100 words"),
        ("a" * 3000, "invalid-query", "3,000 characters"),
    ],
)
def test_errors(query: str, code: str, message: str) -> None:
    with pytest.raises(ExecplanError, match=message) as caught:
        parse_query(query)
    assert (caught.value.code, caught.value.exit) == (code, USAGE)
    assert caught.value.hint


@given(st.text(max_size=80))
def test_any_text_is_a_query_or_an_error(text: str) -> None:
    try:
        query = parse_query(text)
    except ExecplanError as error:
        assert error.code in ("invalid-query", "unknown-filter-value")  # noqa: PT017 - most texts are queries
    else:
        assert query.words or query.excluded_words or query.filters
