"""Replacement of a text: what is found, what is left alone, and what takes too long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from execplan.core.errors import ExecplanError
from execplan.execution.annotations.regex_check import regex_problem
from execplan.execution.evaluation import bounded_regex
from execplan.execution.evaluation.text_replacement import (
    count_problem,
    decode,
    is_partially_replaced,
    replace_matches,
    search,
)
from execplan.execution.execution_plan import Replacement

TEXTS = some.text(alphabet="ab\n é", max_size=30)


def replacement(find: str, new: str, *, regex: bool = False, count: int = 1) -> Replacement:
    """A replacement in all files."""
    fields = {"paths": ["**"], "find": find, "with": new, "regex": regex, "count": count}
    return Replacement.model_validate(fields)


@given(TEXTS, some.text(alphabet="ab\n", min_size=1, max_size=3), TEXTS)
def test_a_text_is_replaced_as_python_does(text: str, find: str, new: str) -> None:
    (matches,) = search(replacement(find, new), [text])
    assert replace_matches(text, matches) == text.replace(find, new)
    assert len(matches) == text.count(find)


def test_a_regular_expression_is_replaced_as_python_does() -> None:
    texts = ["get_a(1)\nget_b(2)\n", "", "x\n\nget_é(3)", "get_get_a()"]
    for pattern, new in ((r"\bget_(\w+)\(", r"fetch_\1("), ("^", "> "), ("x*", "-"), (r"(?s)get.*", "")):
        found = search(replacement(pattern, new, regex=True), texts)
        for text, matches in zip(texts, found, strict=True):
            assert replace_matches(text, matches) == re.sub(pattern, new, text, flags=re.MULTILINE), (pattern, text)


@given(TEXTS, some.lists(some.booleans(), max_size=12))
def test_some_of_the_places_are_a_part_of_the_work(text: str, choices: list[bool]) -> None:
    (matches,) = search(replacement("a", "bb"), [text])
    chosen = [
        match for match, is_chosen in zip(matches, [*choices, *[False] * len(matches)], strict=False) if is_chosen
    ]
    assert is_partially_replaced(text, replace_matches(text, chosen), matches)
    assert not is_partially_replaced(text, replace_matches(text, chosen) + "!", matches)


@given(some.binary(max_size=40) | TEXTS.map(str.encode) | TEXTS.map(lambda text: text.replace("\n", "\r\n").encode()))
def test_what_is_not_replaced_keeps_its_bytes(data: bytes) -> None:
    file_text = decode(data)
    assert (file_text is None) == (b"\0" in data)
    if file_text is not None:
        assert file_text.encode(file_text.text) == data


def test_line_ends_of_the_file_are_kept() -> None:
    file_text = decode(b"a\r\nb\r\n")
    assert file_text is not None
    (matches,) = search(replacement("a\nb", "c\nd"), [file_text.text])
    assert file_text.encode(replace_matches(file_text.text, matches)) == b"c\r\nd\r\n"
    mixed = decode(b"a\r\nb\n")
    assert mixed is not None
    assert not mixed.is_crlf


def test_an_endless_search_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_regex, "SECONDS", 1)
    with pytest.raises(ExecplanError) as caught:
        search(replacement(r"(a+)+$", "", regex=True), ["a" * 60 + "b"])
    assert (caught.value.code, caught.value.exit) == ("bad-regex", 3)
    assert "takes longer than 1 second" in caught.value.message


@pytest.mark.parametrize(
    ("pattern", "new"),
    [("(", ""), ("a", r"\1"), ("(a)", r"\g<b>"), ("a{2,1}", ""), ("(" * 5000 + ")" * 5000, ""), ("[", ""), ("a", "\\")],
)
def test_what_is_no_regular_expression(pattern: str, new: str) -> None:
    assert regex_problem(pattern, new)


def test_the_files_with_another_count_are_named() -> None:
    assert count_problem(replacement("get", "x", count=3), {"a.py": 1, "b.py": 2}) == ""
    assert (
        count_problem(replacement("get", "x", count=8), {"a.py": 1, "b.py": 2, "c.py": 0})
        == "`get` occurs 3 times, not 8: a.py 1, b.py 2"
    )
    assert count_problem(replacement("get", "x"), {}) == "`get` occurs 0 times, not 1 in **"
