"""The reader of plain TOML returns what Python's does, or nothing."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from execplan.core.text.plain_toml import parse_plain, parse_toml

PIECES = (
    *"[]=,#\"'\\ab1-_0. \n\t\r",
    *("\n[lint]\n", "\n[a.b]\n", "a = ", "b = 1\n", '"x, y"', "'z'", "true", "false", "\n# c\n", '"""', "''", "[1, 2]"),
    *("[[a]]\n", "\0", "é", "0x1", "1.5", "nan", "{ a = 1 }", '["a", "b",]', " # c\n", "007", "-1", "+1", "1_0"),
)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
@example("a = ''''")
@example('a = """"')
@example("a = -0\nb = 0")
@example("[a]\n[a]\n")
@example("[a\n")
@example("[\n")
@example("a = 1\n[a]\n")
@example("- = 1")
def test_plain_documents_are_read_as_by_python(text: str) -> None:
    document = parse_plain(text.encode())
    if document is not None:
        expected = tomllib.loads(text)
        assert document == expected
        assert repr(document) == repr(expected)  # True is not 1


@pytest.mark.parametrize(
    "text",
    [
        '# settings\n\n[execution]\nsandbox = "off"\ncheckpoint_interval = 1000\nnetwork = false\n',
        'plans = "docs/plans"\nhomes = ["a", \'b\']\n[lint]\nignore = [ "EP1", ]\n',
        "[execution]\n[lint]\nignore = []\n",
        "",
    ],
)
def test_common_settings_are_plain(text: str) -> None:
    assert parse_plain(text.encode()) == tomllib.loads(text)


@pytest.mark.parametrize("key", ["a.{}", "'a'.{}", "[a . {}]", "x = {{ a.{}", "'''\n'''\n\"a.b\" . {}"])
def test_a_key_of_very_many_parts_is_an_error_before_it_takes_long(key: str) -> None:
    text = key.format(" . ".join(["a"] * 30_000))
    with pytest.raises(ValueError, match="a key has more than 32 parts"):
        parse_toml(f"{text} = 1".encode())
