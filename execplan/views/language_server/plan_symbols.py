"""The outline of a plan: sections, subheadings, tasks, steps and entries; and the plans and tasks of a project by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types as lsp

from execplan.core.plan.model import DONE
from execplan.core.text.markdown_blocks import HEADING
from execplan.execution.annotations.annotated_fences import find_annotated_fences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.views.language_server.plan_document import PlanDocument

_MAX_NAME: Final = 120


class _OutlinePart(NamedTuple):
    """A part of a plan; headings contain what follows up to the next heading of their level."""

    start: int
    end: int
    level: int
    """Level of a heading; for other parts, more than that of any heading."""
    name: str
    kind: lsp.SymbolKind
    detail: str = ""


_TASK_LEVEL: Final = 10
_LEAF_LEVEL: Final = 100


def document_symbols(document: PlanDocument) -> list[lsp.DocumentSymbol]:
    """Return the outline of a document."""
    if document.plan is None:
        return []
    parts = sorted(_outline_parts(document, document.plan), key=lambda part: (part.start, part.level))
    top: list[lsp.DocumentSymbol] = []
    stack: list[tuple[_OutlinePart, lsp.DocumentSymbol]] = []
    for part in parts:
        while stack and (stack[-1][0].level >= part.level or stack[-1][0].end <= part.start):
            stack.pop()
        symbol = lsp.DocumentSymbol(
            name=part.name[:_MAX_NAME] or "(no text)",
            kind=part.kind,
            range=document.lines_range(part.start, part.end),
            selection_range=document.lines_range(part.start, part.start + 1),
            detail=part.detail or None,
            children=[],
        )
        (stack[-1][1].children if stack else top).append(symbol)  # type: ignore[union-attr]
        stack.append((part, symbol))
    return top


def _outline_parts(document: PlanDocument, plan: ParsedPlan) -> Iterator[_OutlinePart]:
    headings = [block for block in plan.blocks if block.kind == HEADING and not block.depth]
    for at, heading in enumerate(headings):
        following = [later.start for later in headings[at + 1 :] if later.level <= heading.level]
        end = following[0] if following else len(document.lines)
        kind = lsp.SymbolKind.File if heading.level == 1 else lsp.SymbolKind.Namespace
        yield _OutlinePart(heading.start, end, heading.level, heading.text.strip(), kind)
    for task_id, task in document.tasks_by_id.items():
        state = task.state_label
        kind = lsp.SymbolKind.Boolean if task.state == DONE else lsp.SymbolKind.Event
        level = _TASK_LEVEL + task.depth
        yield _OutlinePart(task.start, max(task.item_end, task.end), level, task.text, kind, f"{task_id}, {state}")
    for fence in find_annotated_fences(plan).steps:
        name = fence.info.id.value if fence.info.id is not None else "step"
        yield _OutlinePart(fence.line, fence.end, _LEAF_LEVEL, name, lsp.SymbolKind.Function, "step")
    entries = (("decision", plan.decisions), ("discovery", plan.discoveries), ("outcome", plan.outcomes))
    for label, group in (*entries, ("revision", plan.revisions)):
        for entry in group:
            yield _OutlinePart(entry.start, entry.end, _LEAF_LEVEL, entry.text, lsp.SymbolKind.String, label)
