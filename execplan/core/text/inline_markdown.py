"""Plain text, code spans and links of inline markdown; the only module that imports mistune."""

from __future__ import annotations

import mistune

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_inline = mistune.create_markdown(renderer=None).inline


def plain_text(source: str) -> str:
    """Return one line of markdown as displayed text, without the markup of code spans, links and emphasis."""
    state = _inline.state_cls({"ref_links": {}})
    state.src = source
    return "".join(_token_texts(_inline.parse(state)))


def code_spans(source: str) -> list[str]:
    """Return the code spans of a paragraph, without surrounding spaces."""
    return [str(token["raw"]).strip() for token in _iter_tokens(source) if token["type"] == "codespan"]


def link_targets(source: str) -> list[str]:
    """Return the targets of a paragraph's links and images, except those defined elsewhere."""
    return [str(token["attrs"]["url"]) for token in _iter_tokens(source) if token["type"] in ("link", "image")]


def _iter_tokens(source: str) -> Iterator[dict[str, Any]]:
    """Yield every token of a paragraph, including nested ones."""
    state = _inline.state_cls({"ref_links": {}})
    state.src = source
    pending = list(_inline.parse(state))
    while pending:
        token = pending.pop()
        pending += token.get("children", ())
        yield token


def _token_texts(tokens: Iterable[dict[str, Any]]) -> list[str]:
    texts: list[str] = []
    for token in tokens:
        if "children" in token:
            texts += _token_texts(token["children"])
        else:
            texts.append(token.get("raw", " "))
    return texts
