"""Queries: words, phrases, prefixes, filters, and any other text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.context.search.search_query import SearchFilter, SearchWord, parse_query, unknown_filters
from execplan.core.errors import USAGE, ExecplanError

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
    'in:"plan of work","b, c",tasks x': ([("x", False)], [], [("in", ("plan of work", "b, c", "tasks"), False)]),
    'author:ann,"Bob C" x,y': ([("x,y", False)], [], [("author", ("ann", "Bob C"), False)]),
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
        ('in:"tasks",', "invalid-query", "in: has no value"),
        ("in:tasks,,titles", "invalid-query", "in: has no value"),
        ('author:""', "invalid-query", "author: has no value"),
        ("before:2026-13", "invalid-query", "'2026-13'"),
        ("after:2026-02-30", "invalid-query", "'2026-02-30'"),
        ("after:20260101", "invalid-query", "'20260101'"),
        ("after:٢٠٢٦", "invalid-query", "requires a date"),
        ("task:closed", "unknown-filter-value", "'closed'"),
        ("state:stalled", "unknown-filter-value", "'stalled'"),
        ("state:broken", "unknown-filter-value", "'broken'"),
        ("after:0d", "invalid-query", "'0d'"),
        ("after:99999d", "invalid-query", "'99999d'"),
        ("a " * 101, "invalid-query", "100 words"),
        ("a" * 3000, "invalid-query", "3,000 characters"),
    ],
)
def test_errors(query: str, code: str, message: str) -> None:
    with pytest.raises(ExecplanError, match=message) as caught:
        parse_query(query)
    assert (caught.value.code, caught.value.exit) == (code, USAGE)
    assert caught.value.hint


def test_days_before_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772500000")  # 2026-03-03
    assert parse_query("after:7d before:1d").filters == (
        SearchFilter("after", ("2026-02-24",)),
        SearchFilter("before", ("2026-03-02",)),
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("title:route", "title: is not a filter; did you mean in:titles?"),
        ("x Titel:route", "Titel: is not a filter; did you mean in:titles?"),
        ("section:purpose", "section: is not a filter; did you mean in:purpose?"),
        ("authr:ann", "authr: is not a filter; did you mean author:?"),
        ("date:2026", "date: is not a filter; did you mean after: or before:?"),
        (
            "foo:bar",
            "foo: is not a filter; the filters are in:, task:, author:, before:, after:, state:, plan:",
        ),
    ],
)
def test_unknown_filters(query: str, message: str) -> None:
    assert unknown_filters(query) == (message,)


@pytest.mark.parametrize("query", ["in:tasks x", "a::b", "http://x.y", '"note: read"', "x:", "c++ 10:30"])
def test_other_words_with_a_colon(query: str) -> None:
    assert unknown_filters(query) == ()


@given(st.text(max_size=80))
def test_any_text_is_a_query_or_an_error(text: str) -> None:
    try:
        query = parse_query(text)
    except ExecplanError as error:
        assert error.code in ("invalid-query", "unknown-filter-value")  # noqa: PT017 - most texts are queries
    else:
        assert query.words or query.excluded_words or query.filters
