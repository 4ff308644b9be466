"""Info strings: which attributes are ours, and what is told of those that can't be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from execplan.execution.annotations.info_string import parse_info_string


@pytest.mark.parametrize(
    "info",
    [
        "",
        "sh",
        'js title="{x}"',
        "js {1,3-5}",
        "js{1,3-5}",
        "{r}",
        "{r, echo=FALSE}",
        "{r timeout, cache=TRUE}",
        "{python, timeout=60}",
        "{python}",
        "{.python .numberLines}",
        'mermaid {init: {"theme": "dark"}}',
        "{code-block} python",
        "rust {}",
        "{-}",
        "js {1,3",
        'js {title="a b"}',
        "ts {lines-highlighted=3}",
    ],
)
def test_what_other_tools_write_is_not_ours(info: str) -> None:
    assert parse_info_string(info) is None


@pytest.mark.parametrize(
    ("info", "language", "name", "mark", "attributes"),
    [
        ("sh {#build}", "sh", "build", "", {}),
        ("sh{#build}", "sh", "build", "", {}),
        ("{#build}", "", "build", "", {}),
        ("{.sh #build .wide}", "sh", "build", "", {}),
        ("sh { #build  needs=fetch\ttimeout=60 }", "sh", "build", "", {"needs": "fetch", "timeout": "60"}),
        ("sh {needs=a}", "sh", None, "", {"needs": "a"}),
        ("sh {shell}", "sh", None, "", {"shell": "true"}),
        ("sh {timout=60 needs=a}", "sh", None, "", {"timout": "60", "needs": "a"}),
        ('sh {#a task="Build the parser"}', "sh", "a", "", {"task": "Build the parser"}),
        ("sh {#a task='Say \"hi\"'}", "sh", "a", "", {"task": 'Say "hi"'}),
        (r'sh {#a expect="a \"b\" \\ \n {x}"}', "sh", "a", "", {"expect": r'a "b" \ \n {x}'}),
        ('sh {#a expect=""}', "sh", "a", "", {"expect": ""}),
        ("sh {#a expect=it's}", "sh", "a", "", {"expect": "it's"}),
        ("sh {#a when=b.failed,c}", "sh", "a", "", {"when": "b.failed,c"}),
        ("js {1,3} {#a}", "js", "a", "", {}),
        ("sh {example}", "sh", None, "example", {}),
        ("sh {.example}", "sh", None, "example", {}),
        ("sh {example #build exit=0}", "sh", "build", "example", {"exit": "0"}),
        ("text {expect}", "text", None, "expect", {}),
        ("{expect}", "", None, "expect", {}),
    ],
)
def test_ours(info: str, language: str, name: str | None, mark: str, attributes: dict[str, str]) -> None:
    parsed = parse_info_string(info)
    assert parsed is not None
    assert parsed.flaws == ()
    assert (parsed.language, parsed.id and parsed.id.value, parsed.mark) == (language, name, mark)
    assert {attribute.name: attribute.value for attribute in parsed.attributes} == attributes


@pytest.mark.parametrize(
    ("info", "columns", "words"),
    [
        ("sh {#build", (3, 10), "never closed"),
        ('sh {#a task="Build}', (7, 19), "quote is never closed"),
        ('sh {#a task="b"c}', (7, 16), "directly after a closing quote"),
        ("sh {#a #b}", (7, 9), "a second ID, in addition to #a"),
        ("sh {#a exit=0 exit=1}", (14, 20), "exit is given twice"),
        ("sh {#a} title=x", (8, 15), "unexpected text after the closing brace: 'title=x'"),
        ("sh {#a, exit=0}", None, ""),
        ("sh {#a =0}", (7, 9), "'=0' is not an attribute: write name=value"),
        ("sh {#a 1=0}", (7, 10), "'1=0' is not an attribute: write name=value"),
        ("sh {# exit=0}", (4, 5), "without a name after it"),
    ],
)
def test_what_cannot_be_read(info: str, columns: tuple[int, int] | None, words: str) -> None:
    parsed = parse_info_string(info)
    assert parsed is not None
    if columns is None:
        assert parsed.id is not None
        assert parsed.id.value == "a,"
        return
    assert [(flaw.start, flaw.end) for flaw in parsed.flaws] == [columns]
    assert words in parsed.flaws[0].message


def test_columns_are_those_of_the_words() -> None:
    info = 'sh {#build needs=a task="x y"}'
    parsed = parse_info_string(info)
    assert parsed is not None
    assert parsed.id is not None
    assert info[parsed.id.start : parsed.id.end] == "#build"
    assert [info[attribute.start : attribute.end] for attribute in parsed.attributes] == ["needs=a", 'task="x y"']


@given(some.text(alphabet="{}#.=\"'\\ abx,needs", max_size=30))
def test_every_info_string_is_read(info: str) -> None:
    parsed = parse_info_string(info)
    if parsed is not None:
        places = [
            (attribute.start, attribute.end) for attribute in (*parsed.attributes, *([parsed.id] if parsed.id else []))
        ]
        places += [(flaw.start, flaw.end) for flaw in parsed.flaws]
        assert all([0 <= start < end <= len(info) for start, end in places])


def test_a_hostile_info_string_takes_no_time() -> None:
    assert parse_info_string("{" * 200_000) is None
    assert parse_info_string("{" + "a=b " * 100_000) is None
