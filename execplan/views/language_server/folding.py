"""The parts of a plan that an editor can fold: front matter, sections, code blocks, comments and items with several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from execplan.core.text.markdown_blocks import CODE, FENCE, FRONT, HEADING, HTML, ITEM
from execplan.core.text.text_lines import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.views.language_server.plan_document import PlanDocument


def list_folds(document: PlanDocument) -> list[lsp.FoldingRange]:
    """Return the foldable parts of a document, each with its first and last line."""
    if document.plan is None:
        return []
    folds: dict[int, lsp.FoldingRange] = {}
    for start, end, kind in _parts(document):
        last = end - 1
        while last > start and is_blank(document.lines[last]):
            last -= 1
        if last > start:
            folds.setdefault(start, lsp.FoldingRange(start, last, kind=kind))  # editors show one fold per line
    return list(folds.values())


def _parts(document: PlanDocument) -> Iterator[tuple[int, int, lsp.FoldingRangeKind | None]]:
    """Yield the first line of each part, the line after it, and its kind."""
    assert document.plan is not None
    headings = [block for block in document.plan.blocks if block.kind == HEADING and not block.depth]
    ends: dict[int, int] = {}
    stack: list[tuple[int, int]] = []
    for heading in headings:
        while stack and stack[-1][0] >= heading.level:
            ends[stack.pop()[1]] = heading.start
        stack.append((heading.level, heading.start))
    for heading in headings:
        yield heading.start, ends.get(heading.start, len(document.lines)), None
    for block in document.plan.blocks:
        if block.kind in (FENCE, CODE, ITEM):
            yield block.start, block.end, None
        elif block.kind in (FRONT, HTML):
            yield block.start, block.end, lsp.FoldingRangeKind.Comment
