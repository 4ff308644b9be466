"""Checks of a page's HTML as a browser parses it: nothing of a plan runs, and the page is accessible."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlsplit

_TAGS = frozenset(
    """
    html head meta title link script body a header nav ul ol li button main div span p footer h1 h2 h3 h4 h5 h6 section article
    form label input textarea progress time strong em del code pre blockquote table thead tbody tr th td br hr img details
    summary figure figcaption
    """.split()
)
_VOID_TAGS = frozenset("meta link input br hr img".split())
_ATTRIBUTES = frozenset(
    """
    lang charset http-equiv content name rel href type src defer class id hidden tabindex role value max datetime title
    scope alt width height loading autocomplete spellcheck for start method required maxlength rows
    """.split()
)
_SCHEMES = frozenset({"", "http", "https", "mailto"})
ASSETS = ("assets/theme.js", "assets/filter.js")


class Element(NamedTuple):
    """A start tag with its attributes."""

    tag: str
    attributes: dict[str, str]


class Page(HTMLParser):
    """A parsed page: its elements and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.text_parts: list[str] = []
        self.open_tags: list[str] = []
        self.unclosed: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        assert len(dict(attrs)) == len(attrs), f"an attribute of {tag} is repeated"
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID_TAGS:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element without content."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Close the last element, which must be the one that is named."""
        if not self.open_tags or self.open_tags.pop() != tag:
            self.unclosed.append(tag)

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.text_parts.append(data)

    def handle_comment(self, data: str) -> None:
        """Pages have no comments."""
        raise AssertionError(f"a comment: {data}")

    @property
    def text(self) -> str:
        """All text, with white space folded."""
        return " ".join(" ".join(self.text_parts).split())

    def find(self, tag: str) -> list[Element]:
        """The elements with a tag."""
        return [element for element in self.elements if element.tag == tag]

    def links(self) -> dict[str, str]:
        """All link targets."""
        return {element.attributes["href"]: element.tag for element in self.find("a")}


def check_page(html: str) -> Page:
    """Parse a page, check that it is safe and well-formed, and return it."""
    page = check_fragment(html)
    assert html.startswith("<!doctype html>\n<html lang=")
    scripts = [element.attributes for element in page.find("script")]
    assert all([re.sub(r"^(\.\./)+", "", script["src"]) in ASSETS for script in scripts]), scripts
    assert len(page.find("main")) == len(page.find("h1")) == 1
    _check_headings(page)
    _check_names(page)
    return page


def check_fragment(html: str) -> Page:
    """Parse a part of a page and check that nothing in it can run."""
    page = Page(html)
    assert not page.unclosed, page.unclosed
    assert not page.open_tags, page.open_tags
    for tag, attributes in page.elements:
        assert tag in _TAGS, f"<{tag}>"
        for name, value in attributes.items():
            assert name in _ATTRIBUTES or name.startswith(("aria-", "data-")), f"{name} of <{tag}>"
            if name in ("href", "src", "action"):
                assert urlsplit(value).scheme.lower() in _SCHEMES, value
                assert not value.startswith("//"), value
                assert "\\" not in value, value
                assert value.isprintable(), value
                assert " " not in value, value
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids)), sorted(ids)
    return page


def _check_headings(page: Page) -> None:
    """Check that no heading skips a level."""
    level = 0
    for element in page.elements:
        if element.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            assert int(element.tag[1]) <= level + 1, f"{element.tag} after h{level}"
            level = int(element.tag[1])


def _check_names(page: Page) -> None:
    """Check that fields have labels, images have texts, and regions have names."""
    ids = {element.attributes.get("id") for element in page.elements}
    labeled = {element.attributes["for"] for element in page.find("label")}
    for tag, attributes in page.elements:
        if tag in ("input", "textarea") and attributes.get("type") != "hidden":
            assert attributes["id"] in labeled
        if tag == "img" or attributes.get("role") == "img":
            assert "alt" in attributes or attributes["aria-label"]
        if attributes.get("role") == "region" or tag == "nav":
            assert attributes["aria-label"]
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name) is None or attributes[name] in ids
    assert all([element.attributes.get("scope") for element in page.find("th")])
