"""HTML of markdown from untrusted plans: raw HTML is escaped, and a function decides about each link and image."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import mistune
from mistune.plugins.formatting import strikethrough
from mistune.plugins.table import table, table_in_list, table_in_quote
from mistune.plugins.task_lists import task_lists
from mistune.plugins.url import url as bare_urls
from mistune.util import escape, safe_entity, striptags, unescape

from execplan.core.text.invisible_characters import has_hidden

ResolveLink = Callable[[str], "ResolvedLink"]
"""Decides about the destination of a link or an image, as written in the plan."""
NameAnchor = Callable[[str], str]
"""Returns the ID of a heading, given its text without markup."""
DescribeCode = Callable[[str], Sequence[tuple[str, str]]]
"""Returns the facts in the info string of a code block as labels and values; none to show it as it is."""

_MAX_SPACES: Final = 1000
"""Longest run of spaces; a heading with more of them takes mistune quadratic time."""
_MIN_LEVEL: Final = 3
"""Level of the first heading in a section, whose title has level 2."""
_MAX_LEVEL: Final = 6
_MAX_UNBROKEN: Final = 20
"""Maximum length of code that stays on one line; a narrow page has 40 characters in a line."""
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


class ResolvedLink(NamedTuple):
    """The decision about a link or an image."""

    href: str
    """Address to link to; empty if there is no link, only its text."""
    note: str = ""
    """Note after the text, such as why there is no link; may be empty."""
    is_image: bool = False
    """Whether the page may show the address as an image."""


class MarkdownHtml:
    """Converts the markdown of one plan, part by part; link definitions and anchors are shared by all parts."""

    def __init__(
        self, resolve_link: ResolveLink, name_anchor: NameAnchor, describe_code: DescribeCode = lambda info: ()
    ) -> None:
        self._renderer = _Renderer(resolve_link, name_anchor, describe_code)
        plugins = [strikethrough, table, table_in_list, table_in_quote, task_lists, bare_urls]
        self._markdown = mistune.Markdown(self._renderer, plugins=plugins)
        self._markdown.before_render_hooks.append(_unescape_pipes)
        self._definitions: dict[str, Any] = {}

    def add_definitions(self, source: str) -> None:
        """Read the link definitions in a text; all parts can refer to them."""
        self._convert(source)

    def block(self, source: str) -> str:
        """Return the HTML of paragraphs, lists and other blocks."""
        self._renderer.level = _MIN_LEVEL - 1
        return self._convert(source)

    def inline(self, source: str) -> str:
        """Return the HTML of one paragraph's text, without a surrounding element."""
        state = self._markdown.inline.state_cls({"ref_links": self._definitions})
        state.src = source.strip()
        return self._renderer.render_tokens(self._markdown.inline.parse(state), self._markdown.block.state_cls())

    def _convert(self, source: str) -> str:
        state = self._markdown.block.state_cls()
        state.env["ref_links"] = self._definitions
        while " " * _MAX_SPACES in source:
            source = source.replace(" " * _MAX_SPACES, " " * (_MAX_SPACES // 2))
        return str(self._markdown.parse(source, state)[0])


class _Renderer(mistune.HTMLRenderer):
    """Writes HTML that contains no markup of the plan's own, no inline style and only addresses that were allowed."""

    def __init__(self, resolve_link: ResolveLink, name_anchor: NameAnchor, describe_code: DescribeCode) -> None:
        super().__init__(escape=True)
        self._resolve_link = resolve_link
        self._name_anchor = name_anchor
        self._describe_code = describe_code
        self.level = _MIN_LEVEL - 1
        """Level of the latest heading."""
        self._link_depth = 0
        """Number of links around what is being rendered."""

    def render_token(self, token: dict[str, Any], state: mistune.BlockState) -> str:
        """Return the HTML of a token, and count the links around it."""
        is_link = token["type"] == "link"
        self._link_depth += is_link
        try:
            return super().render_token(token, state)
        finally:
            self._link_depth -= is_link

    def text(self, text: str) -> str:
        """Return text with its entities decoded."""
        return escape(decode_entities(text))

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Return a link, or only its text with a note."""
        resolved = self._resolve_link(unescape(url))
        if not resolved.href:
            return f'<span class="unlinked">{text}</span>{_note(resolved)}'
        attributes = f' title="{safe_entity(title)}"' if title else ""
        if unescape(text) == resolved.href.removeprefix("mailto:"):
            attributes += ' class="address"'  # paper shows the addresses of the others after them
        return f'<a href="{escape(resolved.href)}" rel="noreferrer"{attributes}>{text}</a>{_note(resolved)}'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return an image that is part of the site, or a link to any other one; its text if it is in a link."""
        resolved = self._resolve_link(unescape(url))
        alternative = striptags(text)
        if resolved.is_image:
            return f'<img src="{escape(resolved.href)}" alt="{safe_entity(alternative)}" loading="lazy">'
        return text or "image" if self._link_depth else self.link(text or "image", url, title)

    def codespan(self, text: str) -> str:
        """Return code; a short one with hyphens, such as an option, stays on one line."""
        attribute = ' class="unbroken"' if "-" in text and len(text) <= _MAX_UNBROKEN else ""
        return f"<code{attribute}>{escape(text)}</code>"

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        """Return a heading below the section's title, without gaps between levels."""
        self.level = max(_MIN_LEVEL, min(level, self.level + 1, _MAX_LEVEL))
        anchor = safe_entity(self._name_anchor(unescape(striptags(text))))
        return f'<h{self.level} id="{anchor}">{text}</h{self.level}>\n'

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return a code block; attributes of a step are shown above it."""
        info = (info or "").strip()
        caption = f'<p class="code-info">{self._code_facts(info)}</p>\n' if "{" in info else ""
        return f"{caption}<pre><code>{escape(code)}</code></pre>\n"

    def _code_facts(self, info: str) -> str:
        """Return the facts in a code block's info string, or the string as it is."""
        facts = self._describe_code(info)
        if not facts:
            return f"<code>{safe_entity(info)}</code>"
        texts = [
            safe_entity(label) + (f" <code>{safe_entity(value)}</code>" if value else "") for label, value in facts
        ]
        return " ".join([f"<span>{text}</span>" for text in texts])

    def block_html(self, html: str) -> str:
        """Return HTML as text, but nothing for a comment."""
        return "" if _is_comment(html.strip()) else f"<pre><code>{escape(html.strip())}</code></pre>\n"

    def inline_html(self, html: str) -> str:
        """Return HTML as text, but nothing for a comment."""
        return "" if _is_comment(html) else escape(html)

    def table(self, text: str) -> str:
        """Return a table in an area that can be scrolled, also with the keyboard."""
        return f'<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n{text}</table></div>\n'

    def table_cell(self, text: str, align: str | None = None, *, head: bool = False) -> str:
        """Return a cell; its alignment is a class, because the page allows no inline styles."""
        tag, scope = ("th", ' scope="col"') if head else ("td", "")
        class_attribute = f' class="align-{align}"' if align in ("center", "right") else ""
        return f"<{tag}{scope}{class_attribute}>{text}</{tag}>\n"

    def task_list_item(self, text: str, *, checked: bool = False) -> str:
        """Return a list item with a box that shows whether it is checked."""
        name = "done" if checked else "open"
        box = f'<span class="box" role="img" aria-label="{name}"></span> '
        content = f"<p>{box}{text[3:]}" if text.startswith("<p>") else box + text
        return f'<li class="task {name}">{content}</li>\n'


def decode_entities(text: str) -> str:
    """Decode the entities of a text, such as `&rarr;`, except those of hidden characters."""
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda match: _decode_entity(match[0]), text)


def _decode_entity(entity: str) -> str:
    char = unescape(entity)
    return char if char == "\xa0" or (char.isprintable() and not has_hidden(char)) else entity


def _unescape_pipes(_: mistune.Markdown, state: mistune.BlockState) -> None:
    """Replace escaped pipes in the cells of tables, which mistune keeps in code spans."""
    tokens = list(state.tokens)
    while tokens:
        token = tokens.pop()
        if token["type"] == "table_cell":
            token["text"] = token["text"].replace("\\|", "|")
        tokens += token.get("children", ())


def _note(resolved: ResolvedLink) -> str:
    return f' <span class="note">({safe_entity(resolved.note)})</span>' if resolved.note else ""


def _is_comment(html: str) -> bool:
    """Return whether a text is one HTML comment and nothing else."""
    return html.startswith("<!--") and html.endswith("-->") and html.find("-->", 4) == len(html) - 3
