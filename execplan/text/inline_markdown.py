"""What a line of markdown says to a reader: its words without the markup. The only importer of mistune."""

from __future__ import annotations

import mistune

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_inline = mistune.create_markdown(renderer=None).inline


def plain_text(source: str) -> str:
    """The words of one line as they are seen: of a code span its code, of a link its text, of emphasis what it holds."""
    state = _inline.state_cls({"ref_links": {}})
    state.src = source
    return "".join(_token_texts(_inline.parse(state)))


def code_spans(source: str) -> list[str]:
    """The code spans of a paragraph, without the spaces around."""
    return [str(token["raw"]).strip() for token in _iter_tokens(source) if token["type"] == "codespan"]


def link_targets(source: str) -> list[str]:
    """Where the links and images of a paragraph lead, those left out that are defined elsewhere."""
    return [str(token["attrs"]["url"]) for token in _iter_tokens(source) if token["type"] in ("link", "image")]


def _iter_tokens(source: str) -> Iterator[dict[str, Any]]:
    """Every token of a paragraph, those in others too."""
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
