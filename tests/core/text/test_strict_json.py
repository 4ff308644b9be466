"""The strict reader: what it refuses, where it says so, and that it agrees with the standard one on all else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execplan.core.text.fast_json import MAX_DEPTH
from execplan.core.text.strict_json import MAX_BYTES, MAX_VIOLATIONS, read
from execplan.core.text.violation import json_pointer

GOOD = (
    b"{}",
    b" [ ] ",
    b'{"a": [1, 2.5, -0, 1e3, true, false, null, "x"], "b": {"c": {}}}',
    b'"\\ud83d\\ude00 \\u00e9 \\n\\t\\"\\\\\\/"',
    '"é 日本 \U0001f600"'.encode(),
    b"9223372036854775807",
    b"-9999999999999999999",
    b"\r\n\t[1,\n2]\n",
    b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH,
)
BAD = (
    (b'{"a": 1, "b": {"c": 1, "c": 2}}', "/b/c: duplicate key (line 1, column 24)"),
    (b'{"a": 1,\n "\\u0061": 2}', "/a: duplicate key (line 2, column 2)"),
    (b'{"a": NaN}', "/a: NaN is not a JSON number (line 1, column 7)"),
    (b"[1, -Infinity]", "/1: -Infinity is not a JSON number (line 1, column 5)"),
    (b"[1e999]", "/0: a number that is too large or too long (line 1, column 2)"),
    (b"[0." + b"1" * 5000 + b"]", "/0: a number that is too large or too long (line 1, column 2)"),
    (b"[" + b"1" * 5000 + b"]", "/0: an integer of 5000 digits; the maximum is 19 (line 1, column 2)"),
    (b"-10000000000000000000", "the document: an integer of 20 digits; the maximum is 19 (line 1, column 1)"),
    (b'{"a": {"b": ["\\ud800"]}}', "/a/b/0: half of a surrogate pair, which is not a character (line 1, column 14)"),
    (b'["\\udc00\\ud800"]', "/0: half of a surrogate pair, which is not a character (line 1, column 2)"),
    (b'{"\\ud800": 1}', "the document: half of a surrogate pair, which is not a character (line 1, column 2)"),
    (b'"\xed\xa0\x80"', "the document: invalid UTF-8 at byte 2"),
    (b"\xff\xfe{\x00}\x00", "the document: UTF-16; convert it to UTF-8"),
    (b"\xef\xbb\xbf{}", "the document: begins with a byte order mark (line 1, column 1)"),
    (b"{} {}", "the document: unexpected text after the end of the document (line 1, column 4)"),
    (b"{}\n\n]", "the document: unexpected text after the end of the document (line 3, column 1)"),
    (b"01", "the document: unexpected text after the end of the document (line 1, column 2)"),
    (b"", "the document: it ends where a value is expected (line 1, column 1)"),
    (b"[1, 2", "the document: it ends where `,` or `]` is expected (line 1, column 6)"),
    (b'{"a": [1 2]}', "/a: `,` or `]` is missing (line 1, column 10)"),
    (b"[1,]", "/1: expected a value (line 1, column 4)"),
    (b'{"a": 1,}', "the document: expected a name in double quotes (line 1, column 9)"),
    (b"{'a': 1}", "the document: expected a name in double quotes (line 1, column 2)"),
    (b'{"a" 1}', "/a: `:` is missing after a name (line 1, column 6)"),
    (b'{"a": True}', "/a: expected a value (line 1, column 7)"),
    (b"[0E]", "the document: `,` or `]` is missing (line 1, column 3)"),
    (b"1.e5", "the document: unexpected text after the end of the document (line 1, column 2)"),
    (b'["\\u12x"]', "/0: an invalid escape (line 1, column 3)"),
    (b"[.5]", "/0: expected a value (line 1, column 2)"),
    (b"// x\n1", "the document: expected a value (line 1, column 1)"),
    (b'["a\nb"]', "/0: a control character in a string: '\\n' (line 1, column 4)"),
    (b'["\\x41"]', "/0: an invalid escape (line 1, column 3)"),
    (b'["abc', "/0: a string that is not closed (line 1, column 6)"),
    (b"[\x00]", "/0: expected a value (line 1, column 2)"),
    (
        b"[" * (MAX_DEPTH + 1) + b"1" + b"]" * (MAX_DEPTH + 1),
        f"{'/0' * MAX_DEPTH}: nested more than 64 levels deep (line 1, column 66)",
    ),
    (b'{"a/b": {"~": [NaN]}}', "/a~1b/~0/0: NaN is not a JSON number (line 1, column 16)"),
)


@pytest.mark.parametrize("data", GOOD, ids=lambda data: repr(data[:30]))
def test_good(data: bytes) -> None:
    parsed = read(data)
    assert parsed.violations == ()
    assert parsed.value == json.loads(data)


@pytest.mark.parametrize(("data", "told"), BAD, ids=lambda each: repr(each[:30]))
def test_bad(data: bytes, told: str) -> None:
    assert str(read(data).violations[0]) == told


def test_all_at_once_and_read_to_the_end() -> None:
    parsed = read(b'{"a": 1, "a": NaN, "b": [1e999, "\\ud800"], "c": 99999999999999999999}')
    assert [violation.pointer for violation in parsed.violations] == ["/a", "/a", "/b/0", "/b/1", "/c"]
    assert parsed.is_complete
    assert set(parsed.value) == {"a", "b", "c"} if isinstance(parsed.value, dict) else False


def test_what_stops_it_comes_behind_what_does_not() -> None:
    parsed = read(b'[NaN, {"a": 1, "a": 2}, oops]')
    assert [violation.pointer for violation in parsed.violations] == ["/0", "/1/a", "/2"]
    assert not parsed.is_complete


def test_larger_than_the_limit_is_not_read() -> None:
    assert str(read(b" " * (MAX_BYTES + 1)).violations[0]) == "the document: larger than 5 MiB"


def test_hostile_documents_end() -> None:
    """What costs a careless reader its stack or the square of the length; 100 violations are told, and the rest counted."""
    duplicates = read(b"{" + b'"a":1,' * 20_000 + b'"a":1}')
    assert len(duplicates.violations) == MAX_VIOLATIONS
    assert duplicates.omitted == 20_000 - MAX_VIOLATIONS
    for data in (
        b"[" * 1_000_000,
        b'{"a":' * 500_000,
        b'"' + b"\\u0041" * 200_000,
        b'"' + b"a" * 1_000_000,
        b"-" * 1_000_000,
    ):
        assert len(read(data).violations) == 1
    name = b"x" * 1_000_000
    parsed = read(b'{"' + name + b'": {' + b'"b": NaN, ' * 200 + b'"c": 1}}')
    assert all(len(violation.pointer) < 300 for violation in parsed.violations)


VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=50)
@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_json_writes_is_read_as_json_reads_it(value: Any, ascii: bool, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=ascii, indent=indent).encode()
    parsed = read(data)
    assert parsed.violations == ()
    assert parsed.value == value


@settings(max_examples=50)
@given(st.binary(max_size=60) | st.text('{}[]",:0-1.eE \\untrfals\n', max_size=60).map(str.encode))
@example(b"0E")
@example(b"0.e1")
@example(b'"\\u12x"')
def test_any_bytes(data: bytes) -> None:
    parsed = read(data)
    if not parsed.violations:
        assert parsed.value == json.loads(data)


@pytest.mark.parametrize(
    ("parts", "written"), [((), ""), (("a", 0), "/a/0"), (("", "a/b", "m~n", " "), "//a~1b/m~0n/ "), (("é",), "/é")]
)
def test_pointers_are_those_of_rfc_6901(parts: tuple[str | int, ...], written: str) -> None:
    assert json_pointer(parts) == written
