"""Headings, fences and list items stand where markdown-it-py has them; where they do not, cmark judges."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from cmarkgfm import markdown_to_html
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from execplan.core.text.markdown_blocks import CODE, FENCE, HEADING, ITEM, front_matter_length, scan_blocks
from execplan.core.text.text_lines import Text
from tests.conftest import find_corpus

ROOT = Path(__file__).resolve().parents[3]
MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 1000}).disable("inline")
KINDS = {"heading_open": HEADING, "fence": FENCE, "list_item_open": ITEM, "code_block": CODE}


class Row(NamedTuple):
    """One block; lines count from 0 and `end` is exclusive, without the blank lines before it."""

    start: int
    end: int
    kind: str
    level: int = 0


def scanner_blocks(text: str) -> list[Row]:
    """The blocks as the scanner has them."""
    source = Text.from_str(text)
    return [
        _row(source.lines, block.start, block.end, block.kind, block.level if block.kind == HEADING else 0)
        for block in scan_blocks(source.lines, has_tabs=source.tabs, allow_front_matter=False)
        if block.kind in KINDS.values()
    ]


def markdown_it_blocks(text: str) -> list[Row]:
    """The blocks as markdown-it-py has them."""
    lines = Text.from_str(text).lines
    return [
        _row(lines, token.map[0], token.map[1], KINDS[token.type], int(token.tag[1]) if token.tag[0] == "h" else 0)
        for token in MARKDOWN.parse(text)
        if token.type in KINDS and token.map
    ]


def _row(lines: list[str], start: int, end: int, kind: str, level: int) -> Row:
    while end > start + 1 and (end > len(lines) or not lines[end - 1].strip(" \t>")):
        end -= 1
    return Row(start, end, kind, level)


def differ(text: str) -> bool:
    """Whether markdown-it-py has other headings, fences or list items; indented code is none of the plan's business."""
    return sorted(r for r in scanner_blocks(text) if r.kind != CODE) != sorted(
        r for r in markdown_it_blocks(text) if r.kind != CODE
    )


class CmarkBlocks(HTMLParser):
    """The blocks of cmark's HTML with source positions: headings, code of both kinds, list items."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[tuple[int, int, int]] = []
        self.starts: list[tuple[str, int]] = []
        self.feed(markdown_to_html(text, Options.CMARK_OPT_SOURCEPOS))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a block that has a position."""
        position = dict(attrs).get("data-sourcepos")
        if position and tag in ("h1", "h2", "h3", "h4", "h5", "h6", "li", "pre"):
            start, end = [int(point.split(":")[0]) for point in position.split("-")]
            if tag[0] == "h":
                self.headings.append((start - 1, end, int(tag[1])))
            else:
                self.starts.append((tag, start - 1))

    def agrees_with(self, rows: list[Row]) -> bool:
        """Whether these are its blocks; a heading behind definitions starts with them in its positions."""
        headings = [row for row in rows if row.kind == HEADING]
        starts = [("li" if row.kind == ITEM else "pre", row.start) for row in rows if row.kind != HEADING]
        return (
            len(headings) == len(self.headings)
            and all(
                start <= row.start < end and level == row.level
                for row, (start, end, level) in zip(headings, self.headings, strict=True)
            )
            and sorted(starts) == sorted(self.starts)
        )


REASONS = {
    "a paragraph that begins with a link reference definition is a paragraph until it ends; markdown-it-py ends it with "
    "the definition, so that what follows may begin where only a new paragraph lets it": re.compile(r"\]:"),
    "a line four columns right of the container that goes on is text, even left of the deepest item's content; "
    "markdown-it-py lets quotes, fences and HTML begin there": re.compile(r"^[> ]*( {4}| {0,3}\t)", re.MULTILINE),
    "only spaces and tabs may stand behind a lone tag; markdown-it-py allows any white space": re.compile(
        r"<.*[^\S \t\r\n]"
    ),
    "a tab behind a quote's mark goes to the next stop of four; markdown-it-py counts it from elsewhere": re.compile(
        r">.*\t"
    ),
}
"""Why markdown-it-py may differ, and what a text then looks like; each has cmark on the scanner's side."""

KNOWN_DIFFERENCES = [
    "[x]: y\n2) ",
    "- [x]: y\nlazy",
    "[x]: y\n10. foo\n======",
    "[x]: y\n* \n- \n",
    "100. a\n    <div>",
    "100. a\n    ~~~",
    "100. a\n    > b",
    "<a>\xa0\n=",
    "> > 10. \t# a",
    ">\n\t> - a",
]
NO_VERDICT = {
    "only spaces and tabs may stand behind a tag; until 0.30 a form feed was white space, too": (
        re.compile(r"<.*[\f\v]"),
        "</a>\f\n=",
    ),
    "a lone tag does not end a paragraph by a lazy line either; until 0.30 cmark let it": (
        re.compile(r"^[> ]*<[^>]+> *$", re.MULTILINE),
        "> [x]: y\n<b>\n+ a",
    ),
    "behind definitions alone, where it underlines nothing, `-` begins an item and `---` is a rule; cmark has text": (
        re.compile(r"\]:[^\n]*\n(.*\n)?[> ]*-+ *$", re.MULTILINE),
        "[x]: y\n-",
    ),
}
"""Where the judge, who follows version 0.29 of the specification, differs from 0.31, with an example."""


def unexplained_difference(text: str) -> str | None:
    """What is wrong when the two differ: no known reason, or a judge who sees it otherwise."""
    if not differ(text):
        return None
    source = "\n".join(Text.from_str(text).lines)
    if not any(pattern.search(source) for pattern in REASONS.values()):
        return f"no reason known: {scanner_blocks(text)} or {markdown_it_blocks(text)}"
    cmark = CmarkBlocks(text)
    if cmark.agrees_with(scanner_blocks(text)) or any(pattern.search(source) for pattern, _ in NO_VERDICT.values()):
        return None
    return f"cmark: {cmark.headings} {cmark.starts}, not {scanner_blocks(text)}"


@pytest.fixture(scope="session")
def examples() -> list[str]:
    """The examples of the CommonMark specification."""
    fetched = subprocess.run([sys.executable, ROOT / "scripts" / "fetch_spec.py"], capture_output=True, check=False)
    if fetched.returncode:
        give_up = pytest.fail if "CI" in os.environ else pytest.skip
        give_up(f"no CommonMark specification: {fetched.stderr.decode().strip()}")
    spec = json.loads(Path(fetched.stdout.decode().strip()).read_text(encoding="utf-8"))
    return [example["markdown"] for example in spec]


def test_every_example_of_the_specification(examples: list[str]) -> None:
    assert len(examples) == 652
    assert [example for example in examples if differ(example)] == []


FRAGMENTS = (
    "- ", "* ", "+ ", "1. ", "2) ", "10. ", "123456789. ", "1234567890. ", "-", "+", "1.", "> ", ">", ">>", "    ", "  ",
    " ", "\t", "\n", "\n", "\n\n", "\r\n", "\r", "\n  ", "\n    ", "# ", "## h", "#######", "#", "===", "---", "***", "_ _ _",
    "```", "~~~", "````", "``` a`b", "~~~ x", "foo", "a", "é", "<div>", "</div>", "<!-- ", "-->", "<b>", "<u>", "</a>",
    '<a href="', "<script>", "</script>", "<pre>", "<?", "?>", "<!A", "<![CDATA[", "]]>", "[x] ", "- [ ] t", "`", "_", "=",
    "\\", "&", "|", "[a]: ", "[x]: y\n", '[x]: <y> "z"\n', "/u", "\n']", "(t)", '"t"', "\xa0", "\u2028", "\x85",
)  # fmt: skip
SYNTAX = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=16).map("".join)
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\f\v\ufeff"))
MIXED = st.lists(st.one_of(st.sampled_from(FRAGMENTS), ANY_TEXT), max_size=12).map("".join)


@pytest.mark.exhaustive
@given(SYNTAX)
@settings(max_examples=3000)
def test_texts_of_syntax(text: str) -> None:
    assert unexplained_difference(text) is None


@given(MIXED)
@settings(max_examples=1000)
def test_any_texts(text: str) -> None:
    assert unexplained_difference(text) is None


@pytest.mark.parametrize("text", KNOWN_DIFFERENCES)
def test_known_differences_have_cmark_on_our_side(text: str) -> None:
    assert differ(text)
    assert unexplained_difference(text) is None


@pytest.mark.parametrize("text", [example for _, example in NO_VERDICT.values()])
def test_the_judge_is_not_asked(text: str) -> None:
    assert not CmarkBlocks(text).agrees_with(scanner_blocks(text))


CORPUS = find_corpus()


@pytest.mark.exhaustive
@pytest.mark.skipif(CORPUS is None, reason="no corpus: it is in ../shared/corpus or where EXECPLAN_CORPUS says")
def test_every_plan_of_the_corpus() -> None:
    assert CORPUS is not None
    differing = []
    for path in sorted(CORPUS.rglob("*.md")):
        text = Text.from_bytes(path.read_bytes())
        front = front_matter_length(text.lines)
        if differ("\n".join(["" for _ in range(front)] + text.lines[front:]) + "\n"):
            differing.append(path.name)
    assert differing == []
