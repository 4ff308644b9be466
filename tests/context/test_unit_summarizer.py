"""What is shortened holds only what stood there, marks what is left out, and keeps what matters."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execplan.context.context_pack import DECISION, DIFF, FILE, MESSAGE, TOOL_RESULT, Unit
from execplan.context.pack_printer import content_kind, make_summarizer, read_unit_code, truncate_unit
from execplan.context.shortening.code_outline import group_lines, weigh_rare_words
from execplan.context.token_counter import Counter, make_counter

BY = make_counter(exact=False)
MARK = re.compile(r"… [\d,]+ (?:lines?|characters|rows|keys) left out|…")
PYTHON = '''"""Reads dates.

More about it.
"""

import os
from sys import (
    path,
)

LIMIT = 3


@cached
def parse_date(
    text: str,
) -> int:
    """The date of a text.

    And more.
    """
    value = int(text)
    return value


class Reader:
    """Reads them all."""

    def read(self) -> None:
        print("\\d")
        self.offset = 1


if LIMIT:
    def other(): return 1
'''
RUST = """// Reads dates.
use std::fs;

pub struct Reader {
    path: String,
}

impl Reader {
    pub fn parse_date(&self) -> u32 {
        let offset = 1;
        offset
    }
}
"""
C = """#include <stdio.h>

static int parse_date(const char *text)
{
    if (text == NULL) {
        return 1;
    }
}
"""
LOG = "\n".join(
    [
        "start of it",
        *[f"step {at}" for at in range(60)],
        "E   ValueError: no offset",
        *[f"more {at}" for at in range(60)],
        "1 failed, 0 errors",
    ]
)
PROSE = """# Title

First words here. Second words here.

Another paragraph that goes
on to a second line. It says that offsets of dates are read. Nothing else.

- An item. With more.

## Next

```
code with offsets
```
"""
PATCH = """diff --git a/x.py b/x.py
--- a/x.py
+++ b/x.py
@@ -1,3 +1,3 @@
 same
-old line
+new line
@@ -10,3 +10,3 @@
 same
-date = 1
+offset = 2
"""


def summarize_unit(
    unit: Unit, keywords: Collection[str], max_tokens: int, counter: Counter, *, include_rest: bool = False
) -> str | None:
    """The most informative parts of a unit."""
    code = read_unit_code(unit)
    groups = group_lines(code, weigh_rare_words([code], dict.fromkeys(keywords, 1.0)))
    return make_summarizer(unit, keywords, counter, groups)(max_tokens, include_rest)


def require_summary(unit: Unit, tokens: int, *task_words: str) -> str:
    """A summary that there is."""
    text = summarize_unit(unit, frozenset(task_words), tokens, BY)
    assert text is not None
    assert BY.count(text) <= tokens
    return text


def make_unit(path: str, content: str, kind: str = FILE, line: int = 0) -> Unit:
    return Unit("u", kind, content, path=path, line_start=line)


def test_python() -> None:
    text = require_summary(make_unit("a.py", PYTHON), 140)
    assert text.splitlines() == [
        '   1  """Reads dates.',
        "…",
        "   6  import os",
        "      from sys import (",
        "          path,",
        "      )",
        "  11  LIMIT = 3",
        "  14  @cached",
        "      def parse_date(",
        "          text: str,",
        "      ) -> int:",
        '          """The date of a text.',
        "…",
        "  26  class Reader:",
        '          """Reads them all."""',
        "  29      def read(self) -> None:",
        "…",  # the numbers say how many lines
        "  35      def other(): return 1",
    ]


def test_a_whole_definition_has_its_signature_and_its_class() -> None:
    code = "class Reader:\n    def close(self) -> None:\n        self.file = None\n\n    def parse(self) -> None:\n"
    code += (
        "        first = 1\n        second = first + 1\n        return second\n"
        + "\n\ndef other() -> int:\n    return 1\n" * 9
    )
    text = require_summary(make_unit("a.py", code), 60, "parse")
    assert "class Reader:" in text
    assert "    def parse(self) -> None:" in text
    assert "        return second" in text


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "class Reader:\n    offset: int = 0\n    other_dates: int = 1\n\n    def close(self):\n        self.file = 2\n"),
        ("a.rs", "pub struct Reader {\n    offset: u32,\n    other_dates: u32,\n}\n\nfn close() {\n    file = 2;\n}\n"),
        ("a.ts", "export interface Reader {\n  offset: number\n  other_dates: number\n}\n\nfunction close() {\n  file = 2\n}\n"),
    ],
)  # fmt: skip
def test_fields_are_taken_like_functions(path: str, code: str) -> None:
    text = require_summary(
        make_unit(path, code + "\n\n" + code.replace("Reader", "Writer").replace("offset", "end") * 9), 60, "offset"
    )
    assert "other_dates" in text.partition("…")[0]
    assert "file = 2" not in text


def test_what_fills_the_room_does_not_replace_the_definition_that_matters() -> None:
    code = "".join([f"def other_{at}():\n" + "    value = 1\n" * 900 + "\n\n" for at in range(3)])
    code += "def parse_offset(text):\n    return int(text)\n"
    text = summarize_unit(make_unit("a.py", code), frozenset(["offset"]), 400, BY, include_rest=True)
    assert text is not None
    assert "    return int(text)" in text
    assert BY.count(text) > 300


def test_what_the_task_is_about_comes_first() -> None:
    assert "def parse_date(" in require_summary(make_unit("a.py", PYTHON), 40, "parse", "date")
    assert "class Reader" not in require_summary(make_unit("a.py", PYTHON), 40, "parse", "date")
    assert "self.offset = 1" in require_summary(make_unit("a.py", PYTHON), 400, "offset")
    assert "value = int" not in require_summary(make_unit("a.py", PYTHON), 400, "offset")


def test_lines_are_numbered_as_in_the_file() -> None:
    assert require_summary(make_unit("a.py", "def a(): ...\n\n\ndef b(): ...\n", line=41), 80).splitlines() == [
        "  41  def a(): ...",
        "  44  def b(): ...",
    ]


@pytest.mark.parametrize("broken", ["def a(:\n    def b(x):\n", "class A:\n\0\n", "(" * 5000 + "\ndef b(): 1\n"])
def test_python_that_is_none_is_read_by_its_looks(broken: str) -> None:
    assert summarize_unit(make_unit("a.py", broken), frozenset(), 200, BY)


@pytest.mark.parametrize(
    ("path", "content", "told", "not_told"),
    [
        (
            "a.rs",
            RUST,
            ["use std::fs;", "pub struct Reader {", "impl Reader {", "pub fn parse_date(&self) -> u32 {"],
            "let offset",
        ),
        ("a.c", C, ["#include <stdio.h>", "static int parse_date(const char *text)"], "return 1"),
        (
            "a.ts",
            "import x from 'y'\nexport const f = (a: number) => {\n  const offset = a + 1\n  return a\n}\n",
            ["import x", "export const f"],
            "return a",
        ),
        ("a.sql", "create table dates (\n  id int,\n  name varchar(80)\n);\n", ["create table dates"], "id int"),
    ],
)
def test_other_code(path: str, content: str, told: list[str], not_told: str) -> None:
    text = require_summary(make_unit(path, content), 100)
    assert all(expected in text for expected in told)
    assert not_told not in text


def test_prose() -> None:
    assert require_summary(make_unit("a.md", PROSE), 60).splitlines() == [
        "# Title",
        "First words here. …",
        "Another paragraph that goes",
        "on to a second line. …",
        "- An item. …",
        "## Next",
        "… 3 lines left out",
    ]
    assert "It says that offsets of dates are read." in require_summary(
        make_unit("a.md", PROSE), 52, "offsets", "dates"
    )


def test_a_log_has_its_errors_and_its_ends() -> None:
    lines = require_summary(make_unit("", LOG, TOOL_RESULT), 60).splitlines()
    assert lines[0] == "start of it"
    assert "E   ValueError: no offset" in lines
    assert lines[-1] == "1 failed, 0 errors"
    assert sum(["left out" in line for line in lines]) >= 2


def test_messages_have_their_first_and_last_sentence() -> None:
    unit = Unit("m", MESSAGE, "Do it. " + "Then think about it a lot. " * 30 + "Offsets matter. And tell me.")
    assert require_summary(unit, 14) == "Do it. … And tell me."
    assert require_summary(unit, 17, "offsets") == "Do it. … Offsets matter. And tell me."


def test_diffs() -> None:
    text = require_summary(make_unit("", PATCH, DIFF), 74, "offset")
    assert text.splitlines() == [
        "diff --git a/x.py b/x.py",
        "--- a/x.py",
        "+++ b/x.py",
        "@@ -1,3 +1,3 @@",
        "… 3 lines left out",
        "@@ -10,3 +10,3 @@",
        " same",
        "-date = 1",
        "+offset = 2",
    ]


def test_tables_and_json_have_their_shape() -> None:
    table = "a,b\n" + "".join([f"{at},{at}\n" for at in range(50)])
    assert require_summary(make_unit("a.csv", table), 60) == "a,b\n0,0\n1,1\n… 48 rows left out"
    data = (
        '{"dates": [{"at": 1, "names": ["one", "two", "three"]}, {"at": 2, "names": []}], "name": "a name that is long", '
        '"none": null, "no": 3}'
    )
    assert require_summary(make_unit("a.json", data), 120).splitlines() == [
        f"… only the structure of {len(data)} characters of JSON:",
        "{",
        '  "dates": [2 × {',
        '    "at": number',
        '    "names": [3 × string]',
        "  }]",
        '  "name": string',
        '  "none": null',
        '  "no": 3',  # no longer than the word for it
        "}",
    ]
    assert "an object with 2 keys" in require_summary(make_unit("a.json", data), 48)
    assert summarize_unit(make_unit("a.json", "{broken}"), frozenset(), 100, BY) is None


def test_settings_have_what_is_least_indented() -> None:
    text = require_summary(
        make_unit("a.yaml", "jobs:\n  test:\n    steps:\n      - run: make\n  dates:\n    x: 1\n"), 26, "make"
    )
    assert text.splitlines()[0] == "jobs:"
    assert "run: make" in text


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        (make_unit("a.py", ""), "python"),
        (make_unit("a.tsx", ""), "code"),
        (make_unit("README.md", ""), "prose"),
        (make_unit("Makefile", ""), "text"),
        (make_unit(".gitignore", ""), "text"),
        (make_unit("a.d/b", ""), "text"),
        (make_unit("build.log", ""), "log"),
        (make_unit("", "", TOOL_RESULT), "log"),
        (make_unit("", "diff --git a/x b/x\n", TOOL_RESULT), "diff"),
        (make_unit("", '{"a": 1}\n', TOOL_RESULT), "json"),
        (make_unit("", "{ not so", TOOL_RESULT), "log"),
        (make_unit("", "", MESSAGE), "message"),
        (make_unit("", "", DECISION), "prose"),
    ],
)
def test_kinds(unit: Unit, kind: str) -> None:
    assert content_kind(unit) == kind


PATHS = ["a.py", "a.rs", "a.md", "a.log", "a.csv", "a.yaml", "a.diff", ""]
CONTENT = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from([PYTHON, RUST, PROSE, LOG[:300], PATCH, "x" * 3000, "one two. Three, four.\n", "\r\n"])
    ).map("".join),
)


@settings(max_examples=80)
@given(st.sampled_from(PATHS), CONTENT, st.integers(1, 300), st.sets(st.sampled_from(["offset", "date", "x"])))
@example(
    "a.py",
    "000000000000000000\na0000(date0000:0:0:0000:0:0:0:0:0:0:0:0:0\nclass\n\n def\n 00000000:offset",
    57,
    {"offset", "date"},
)
def test_a_summary_holds_only_what_stood_there(path: str, content: str, tokens: int, task_words: set[str]) -> None:
    text = summarize_unit(make_unit(path, content), task_words, tokens, BY)
    if text is None:
        return
    assert BY.count(text) <= tokens
    assert text == summarize_unit(make_unit(path, content), frozenset(sorted(task_words, reverse=True)), tokens, BY)
    normalized = " ".join(content.split())
    for line in text.splitlines():
        for fragment in MARK.split(re.sub(r"^ *\d+  ", "", line)):
            assert " ".join(fragment.split()) in normalized


@given(CONTENT, st.integers(1, 300))
def test_a_cut_is_the_beginning_and_says_how_much_is_missing(content: str, tokens: int) -> None:
    text = truncate_unit(make_unit("", content), tokens, BY)
    if text == content:
        assert BY.count(text) <= tokens or len(content) <= len("… 99 characters left out")
        return
    head, mark, rest = text.rpartition("… ")
    assert mark
    assert content.startswith(head.removesuffix("\n"))
    assert re.fullmatch(r"[\d,]+ (lines|characters) left out", rest)
    assert BY.count(text) <= max(tokens, 12)


WORDS = "a the dates } ] end of reader offsets configuration return 42 error:".split()
LINE = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.sampled_from(["", "}", " " * 40 + "}", "🚀🚀🚀", "x" * 500, "…"]),
)
LINES = st.lists(LINE, min_size=1, max_size=80).map(
    lambda lines: [f"{at}:{line}" if line else "" for at, line in enumerate(lines)]
)


@settings(max_examples=200)
@given(LINES, st.sampled_from(["a.txt", "a.log", "a.rs", "a.yaml", "a.csv"]), st.integers(10, 400), st.booleans())
def test_a_mark_is_never_longer_than_what_it_stands_for(
    lines: list[str], path: str, tokens: int, include_rest: bool
) -> None:
    text = summarize_unit(
        make_unit(path, "\n".join(lines)), frozenset(["dates"]), tokens, BY, include_rest=include_rest
    )
    if text is None:
        return
    at = 0
    pending = ""
    shown_lines = [re.sub(r"^ *\d+  |^      ", "", line) if path == "a.rs" else line for line in text.split("\n")]
    for line in [*shown_lines, None]:
        if line is not None and re.fullmatch("…" if path == "a.rs" else r"… \d+ (line|row)s? left out", line):
            pending = line
            continue
        cut = re.fullmatch(r"(.*) … ([\d,]+) characters left out", line) if line is not None else None
        end = len(lines)
        if line is not None:
            head = cut[1] if cut else line
            end = next(index for index in range(at, len(lines)) if lines[index].strip().startswith(head.strip()))
        if cut:
            remainder = lines[end].strip().removeprefix(cut[1].strip())
            assert len(remainder) >= int(cut[2]) > len(f" … {cut[2]} characters left out")
        if pending:
            gap = [gap_line for gap_line in lines[at:end] if gap_line.strip()]
            assert path == "a.rs" or int(pending.split()[1]) == len(gap)
            assert len(pending) < len("\n".join(gap))
            assert BY.count(pending) <= BY.count("\n".join(gap))
        at, pending = end + 1, ""


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            "".join([f"12:00:{at % 60:02} worker {at % 7} handled request {at}\n" for at in range(4000)]), id="log"
        ),
        pytest.param(
            "".join([f"Sentence {at} of the notes says a thing. It says more.\n" for at in range(700)]), id="prose"
        ),
        pytest.param(json.dumps([{"id": at, "name": f"item {at}", "in": {"a": at}} for at in range(800)]), id="json"),
        pytest.param(json.dumps({f"k{at}": ["v" * 99] * 5 for at in range(200)}, indent=2), id="indented json"),
        pytest.param(json.dumps({"a": [[at] * 9 for at in range(900)]}, separators=(",", ":")), id="minified json"),
        pytest.param(json.dumps(["word " * 9000]), id="one long string"),
        pytest.param(PYTHON * 100, id="python"),
        pytest.param(RUST * 100, id="code"),
        pytest.param("a,b\n" + "".join([f"{at},{at}\n" for at in range(5000)]), id="table"),
        pytest.param("".join([f"k{at}:\n  a: {at}\n  b: [1, 2]\n" for at in range(900)]), id="settings"),
        pytest.param(PATCH * 200, id="diff"),
        pytest.param(PROSE * 60, id="markdown"),
        pytest.param("word " * 9000, id="one long line"),
        pytest.param("x" * 60_000, id="no spaces"),
        pytest.param("\n\n\n   \n".join(["a", "b"] * 2000), id="blank lines"),
        pytest.param("時間の計画を読む。" * 4000, id="unspaced script"),
    ],
)
@pytest.mark.parametrize(
    "path", ["a.log", "a.txt", "a.md", "a.json", "a.py", "a.rs", "a.csv", "a.yaml", "a.diff", "message"]
)
def test_with_the_rest_the_room_is_full(content: str, path: str) -> None:
    unit = Unit("u", MESSAGE, content) if path == "message" else make_unit(path, content)
    for tokens in (250, 6500):
        if BY.count(content) > tokens:
            text = summarize_unit(unit, frozenset(["dates", "handled"]), tokens, BY, include_rest=True)
            text = truncate_unit(unit, tokens, BY) if text is None else text
            assert 0.9 * tokens <= BY.count(text) <= tokens
