"""Candidates of a completion, and the items that an editor shows for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.views.language_server.plan_document import PlanDocument

MAX_ITEMS: Final = 400


class Candidate(NamedTuple):
    """A text that fits before the cursor."""

    text: str
    typed_length: int
    """Number of characters before the cursor that it replaces."""
    about: str = ""
    kind: lsp.CompletionItemKind = lsp.CompletionItemKind.Value
    label: str = ""
    """What the editor shows; by default the text."""
    goes_on: bool = False
    """Whether the editor should offer more after it, as after a directory."""


def make_items(
    document: PlanDocument, line: int, column: int, candidates: Sequence[Candidate]
) -> list[lsp.CompletionItem]:
    """Return the items for candidates, which stay in their order."""
    return [_make_item(document, line, column, at, candidate) for at, candidate in enumerate(candidates[:MAX_ITEMS])]


def _make_item(document: PlanDocument, line: int, column: int, at: int, candidate: Candidate) -> lsp.CompletionItem:
    start = column - candidate.typed_length
    typed_text = document.lines[line][start:column] if line < len(document.lines) else ""
    label = candidate.label or candidate.text
    is_same_start = candidate.text.startswith(typed_text) or label.startswith(typed_text)
    suggest = lsp.Command("Suggest", "editor.action.triggerSuggest")
    return lsp.CompletionItem(
        label=label,
        kind=candidate.kind,
        detail=candidate.about or None,
        sort_text=f"{at:04}",
        filter_text=candidate.text if is_same_start else f"{typed_text} {label}",
        text_edit=lsp.TextEdit(document.range_at(line, start, line, column), candidate.text),
        command=suggest if candidate.goes_on else None,
    )
