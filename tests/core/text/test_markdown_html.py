"""HTML of markdown: raw HTML is text, links and images follow the decisions, structure is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.text.markdown_html import MarkdownHtml, ResolvedLink
from tests.views.site.hostile_text import MARKDOWN
from tests.views.site.html_safety import check_fragment


def converter() -> MarkdownHtml:
    """A converter that links only web pages, and shows pictures in `img/`."""
    names: list[str] = []

    def name_anchor(text: str) -> str:
        names.append(text)
        return f"anchor-{len(names)}"

    def resolve_link(url: str) -> ResolvedLink:
        if url.startswith("img/"):
            return ResolvedLink(url, is_image=True)
        return ResolvedLink(url) if url.startswith("https://") else ResolvedLink("", "link removed")

    return MarkdownHtml(resolve_link, name_anchor)


@pytest.mark.parametrize("source", MARKDOWN)
def test_nothing_of_a_hostile_text_can_run(source: str) -> None:
    check_fragment(converter().block(source))
    check_fragment(converter().inline(source.replace("\n", " ")))


@given(
    st.lists(
        st.sampled_from([*MARKDOWN, "\n", "\n\n", "- ", "> ", "    ", "a", "`", "*", "|", "[", "](", "<", '"', "&"]),
        max_size=8,
    )
)
def test_no_combination_can_run(pieces: list[str]) -> None:
    check_fragment(converter().block("".join(pieces)))


def test_markup_becomes_elements() -> None:
    html = converter().block("### A *b*\n\nText with `code`, ~~old~~ and\n[a link](https://a.example 'Title').\n")
    assert html == (
        '<h3 id="anchor-1">A <em>b</em></h3>\n<p>Text with <code>code</code>, <del>old</del> and\n'
        '<a href="https://a.example" rel="noreferrer" title="Title">a link</a>.</p>\n'
    )


def test_a_removed_link_keeps_its_text_and_says_so() -> None:
    html = converter().inline("[text](javascript:alert(1))")
    assert html == '<span class="unlinked">text</span> <span class="note">(link removed)</span>'


def test_an_image_of_the_site_is_shown_and_another_one_is_a_link() -> None:
    assert converter().inline('![A "b"](img/a.png)') == '<img src="img/a.png" alt="A &quot;b&quot;" loading="lazy">'
    remote = converter().inline("![A](https://a.example/b.png)")
    assert remote == '<a href="https://a.example/b.png" rel="noreferrer">A</a>'


def test_definitions_are_shared_by_all_parts() -> None:
    markdown = converter()
    markdown.add_definitions("[spec]: https://a.example/spec\n")
    assert 'href="https://a.example/spec"' in markdown.block("See the [spec].")
    assert 'href="https://a.example/spec"' in markdown.inline("See the [words][spec].")


def test_comments_are_left_out_and_other_html_is_text() -> None:
    assert converter().block("a <!-- hidden --> b\n\n<!-- a\n\nb -->\n") == "<p>a  b</p>\n"
    assert "&lt;details&gt;" in converter().block("<details>\n\ntext\n\n</details>\n")


def test_boxes_have_names_and_tables_have_headers() -> None:
    html = converter().block("- [x] a\n- [ ] b\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n")
    assert '<li class="task done"><span class="box" role="img" aria-label="done"></span> a</li>' in html
    assert '<th scope="col" class="align-right">b</th>' in html
    assert "style=" not in html


def test_headings_leave_no_gap() -> None:
    html = converter().block("# a\n\n##### b\n\n###### c\n\n## d\n")
    assert [html[at + 1 : at + 3] for at in range(len(html)) if html[at : at + 2] == "<h"] == ["h3", "h4", "h5", "h3"]


def test_attributes_of_a_step_are_shown() -> None:
    assert '<p class="code-info"><code>sh {#build exit=0}</code></p>' in converter().block(
        "```sh {#build exit=0}\nx\n```\n"
    )
    assert "code-info" not in converter().block("```sh\nx\n```\n")


@pytest.mark.parametrize(
    "source",
    [
        "# " + " " * 50_000 + "x",
        "[" * 5000,
        "*a" * 20_000,
        "`" * 20_001,
        "> " * 5000,
        "- " * 5000 + "a",
        "|a" * 10_000 + "\n|-" * 2,
    ],
    ids=["spaces", "brackets", "emphasis", "backticks", "quotes", "items", "table"],
)
def test_extreme_texts_are_safe(source: str) -> None:
    check_fragment(converter().block(source))


def test_a_picture_in_a_link_is_its_text() -> None:
    html = converter().inline("[![build](https://a.example/b.svg)](https://ci.example/) ![x](https://a.example/c.svg)")
    assert html == (
        '<a href="https://ci.example/" rel="noreferrer">build</a> '
        '<a href="https://a.example/c.svg" rel="noreferrer">x</a>'
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a &rarr; b &copy; &lt;b&gt;", "a → b © &lt;b&gt;"),
        ("a&nbsp;b &#65; &#x42;", "a\xa0b A B"),
        ("&amp;rarr; \\&rarr; `&rarr;`", "&amp;rarr; &amp;rarr; <code>&amp;rarr;</code>"),
        ("AT&T &unknown; &copy", "AT&amp;T &amp;unknown; &amp;copy"),
        ("&#x202E; &#0; &ZeroWidthSpace;", "&amp;#x202E; \ufffd &amp;ZeroWidthSpace;"),
    ],
    ids=["names", "numbers", "escaped", "no entity", "hidden characters"],
)
def test_entities_are_decoded(source: str, expected: str) -> None:
    assert converter().inline(source) == expected


def test_an_escaped_pipe_in_a_table_is_a_pipe() -> None:
    html = converter().block("- | a | b |\n  |---|---|\n  | `x \\| y` | z \\| w |\n")
    assert "<code>x | y</code>" in html
    assert ">z | w<" in html


def test_a_box_is_beside_its_paragraph() -> None:
    html = converter().block("- [ ] a\n\n  b\n")
    assert '<li class="task open"><p><span class="box" role="img" aria-label="open"></span> a</p>' in html


def test_addresses_and_options_are_marked() -> None:
    """Paper shows the address of a link after its text, unless the text is the address; options are not broken."""
    text = converter().inline(
        "<https://a.example/b?c&d> [b](https://a.example) `--option` `a` `a-long-name-of-a-command`"
    )
    assert text == (
        '<a href="https://a.example/b?c&amp;d" rel="noreferrer" class="address">https://a.example/b?c&amp;d</a> '
        '<a href="https://a.example" rel="noreferrer">b</a> '
        '<code class="unbroken">--option</code> <code>a</code> <code>a-long-name-of-a-command</code>'
    )
