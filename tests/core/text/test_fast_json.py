"""JSON without `json`: the same values, the same bytes, and nothing that could be meant in two ways."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.text import fast_json, strict_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_as_json_has_it(value: Any) -> None:
    assert fast_json.write(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert fast_json.write(value, has_spaces=True) == json.dumps(value, ensure_ascii=False)
    assert fast_json.read(json.dumps(value)) == value


BAD = [
    "",
    "x",
    "{",
    '{"a":1,}',
    "[1] 2",
    '{"a":1,"a":2}',
    '{"x":{"a":1,"a":1}}',
    "NaN",
    "-Infinity",
    "1e999",
    "1" * 30,
    '"\\ud800"',
    '{"\\udc00":1}',
    '["\\ud800x"]',
    "[" * 66 + "]" * 66,
    "[" * 200_000,
    '"a\nb"',
    "\ufeff1",
    "01",
    "'x'",
]


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:20])
def test_refused_as_by_the_strict_reader(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        fast_json.read(text)
    assert strict_json.read(text.encode()).violations


@pytest.mark.parametrize("text", ["{", "[1", '{"a":1', '"x', '{"a" 1}', "[1 2]"])
def test_refused_also_where_nobody_has_loaded_json(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the process of a guard: the reader written in C then fails without saying why."""
    monkeypatch.delitem(sys.modules, "json.decoder")
    with pytest.raises(
        ValueError, match=r"not JSON|no value|line 1 column"
    ):  # the last in Python 3.13, where the C reader loads the module
        fast_json.read(text)


def test_half_a_character_may_stand_for_a_byte_of_a_path() -> None:
    assert fast_json.read('"\\udc80"', allow_surrogates=True) == "\udc80"
    assert fast_json.read("[" * 64 + "]" * 64) is not None


def test_what_json_has_not_is_not_written() -> None:
    for value in (float("nan"), {1, 2}, b"x"):
        with pytest.raises(ValueError, match=r"JSON"):
            fast_json.write(value)
