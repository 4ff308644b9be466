"""Escaped text of a plan shows its characters in GitHub's markdown, and adds no markup, HTML, link, mention or reference."""

from __future__ import annotations

import html
import re

import cmarkgfm
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.markdown_escape import escape_markdown

SHA = "4f6d0e0c8a1b2c3d4e5f60718293a4b5c6d7e8f9"
PUNCTUATION = "\\`*_{}[]()<>#+-.!|~&@$:=\"'^/ 1a"
texts = st.one_of(
    st.text(PUNCTUATION, max_size=20),
    st.text(max_size=20),
    st.lists(
        st.sampled_from(
            [
                "``",
                "`",
                "<!-- x -->",
                "<img src=x>",
                "![a](b)",
                "https://a.org/b_c",
                "www.a.org",
                "a@b.org",
                "#5",
                "GH-7",
                SHA,
                SHA[:7],
                "&lt;",
                "|",
                "a",
                " ",
            ]
        ),
        max_size=6,
    ).map("".join),
)
WORD_JOINER = "\u2060"


def shown(markup: str) -> str:
    """The text that a page shows, apart from invisible characters."""
    return html.unescape(re.sub(r"</?code>", "", markup)).replace(WORD_JOINER, "")


def expected(text: str) -> str:
    """What a page should show: the text in one line, and code spans without their backticks."""
    return "".join(escape_unprintable(" ".join(text.split())).split("`"))


@given(texts)
@example("- [ ] x")
@example("1. x")
@example("# x")
@example("=")
@example("\\`a`")
@example("``a` `b``")
@example("@org/team and a@b.org")
@example("Fixed: ```x``")
def test_only_code_spans_are_markup(text: str) -> None:
    item = cmarkgfm.github_flavored_markdown_to_html(f"- x {escape_markdown(text)} y")
    match = re.fullmatch(r"<ul>\n<li>x (.*?) ?y</li>\n</ul>\n", item, re.DOTALL)
    assert match, item
    assert not re.search(r"<(?!/?code>)", match[1]), item
    plain = shown(match[1]).replace("`", "")
    assert "".join(plain.split()) == "".join(expected(text).split())


@given(texts)
@example("# x")
@example("+ x")
@example("12) x")
@example("---")
@example("===")
def test_a_line_of_its_own_is_a_paragraph(text: str) -> None:
    escaped = escape_markdown(text)
    for markup in (cmarkgfm.github_flavored_markdown_to_html(escaped), MarkdownIt("commonmark").render(escaped)):
        assert not re.search(r"<(?!/?(code|p)>)", markup), (escaped, markup)
        assert markup.count("<p>") == (1 if escaped else 0)


@given(texts)
@example("#5 opens the line")
@example("owner/repo#1, (#2), Fixes: #3, GH-4, gh-5")
@example(f"{SHA} owner/repo@{SHA} {SHA[:7]}")
def test_nothing_is_mentioned_or_referred_to(text: str) -> None:
    page = cmarkgfm.github_flavored_markdown_to_html(escape_markdown(text))
    outside_code = html.unescape(re.sub(r"<code>.*?</code>", " ", page))
    pattern = rf"@(?!{WORD_JOINER})|#[0-9]|\bGH-[0-9]|\b{SHA[:7]}({SHA[7:]})?\b"
    assert not re.search(pattern, outside_code, re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("Build the parser (fast), e.g. in 2 days!", "Build the parser (fast), e.g. in 2 days!"),
        ("In 20261128, #tag and bugfix-7 `#5`", "In 20261128, #tag and bugfix-7 `#5`"),
        ("Call `read_all()` of *this*", "Call `read_all()` of \\*this\\*"),
        ("a\n::error::b\n\nc", "a ::error::b c"),
        ("<!-- execplan -->", "&lt;!-- execplan --&gt;"),
        ("`a <!-- b` `c`", "&#96;a &lt;!-- b&#96; `c`"),
        ("\x1b[31m\u202e", "\\\\x1b\\[31m\\\\u202e"),
    ],
)
def test_readable_text_stays_readable(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped


def test_many_backticks_take_linear_time() -> None:
    text = "".join("`" * length + " " for length in range(1, 400)) * 3
    assert len(escape_markdown(text * 5)) > len(text)
