"""Completion: what an editor offers at a place of a plan, by the text before the cursor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from execplan.core.clock import now
from execplan.core.plan import outline
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.plan.task_edits import has_timestamps
from execplan.core.project.plan_dialects import dialect_of
from execplan.core.text.markdown_blocks import FENCE, FRONT
from execplan.core.timestamps import DEFAULT_TIMESTAMP, write_timestamp
from execplan.linter.rule import RULES
from execplan.linter.rules.suppression_rules import MARK
from execplan.views.language_server.attribute_completion import complete_attributes
from execplan.views.language_server.completion_items import Candidate, make_items
from execplan.views.language_server.name_completion import complete_names, complete_paths
from execplan.views.language_server.plan_hover import section_purposes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.views.language_server.open_documents import OpenDocuments
    from execplan.views.language_server.plan_document import PlanDocument

TRIGGERS: Final = ("#", "[", "{", "=", "`", "/", "(", ":", '"', " ")
_FENCE_START: Final = re.compile(r"^[\s>*+\-\d.)]*(?:`{3,}|~{3,})[^`{]*\{(?P<attributes>[^}]*)$")
_HEADING: Final = re.compile(r"^(?P<mark>#{1,6}) ?[^#]*$")
_BOX: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])(?P<box> ?(?:\[[^\]]?)?)$")
_RULE_CODE: Final = re.compile(r"[\w]*$")


def complete(documents: OpenDocuments, document: PlanDocument, position: lsp.Position) -> list[lsp.CompletionItem]:
    """Return what fits at a position."""
    if document.plan is None:
        return []
    line, column = document.column_at(position)
    prefix = document.lines[line][:column] if line < len(document.lines) else ""
    fence = _FENCE_START.match(prefix)
    candidates: list[Candidate]
    if fence is not None:
        candidates = complete_attributes(document, fence["attributes"])
    elif _is_in_code(document.plan, line):
        candidates = []
    elif MARK in prefix:
        typed_code = _RULE_CODE.search(prefix)
        start = len(typed_code[0]) if typed_code is not None else 0
        candidates = [Candidate(code, start, rule.summary) for code, rule in RULES.items()]
    elif heading := _HEADING.match(prefix):
        candidates = list(_missing_sections(document, document.plan, len(prefix), heading["mark"]))
    elif (box := _BOX.match(prefix)) and _has_tasks_near(document.plan, line):
        candidates = list(_boxes(document.plan, len(box["box"]), line))
    else:
        candidates = complete_names(documents, document, line, prefix) or complete_paths(document, prefix)
    return make_items(document, line, column, candidates)


def _is_in_code(plan: ParsedPlan, line: int) -> bool:
    """Return whether a line is in a code block; dependencies in front matter are completed."""
    return any(
        [block.kind == FENCE and block.start <= line < block.end for block in plan.blocks if block.kind != FRONT]
    )


def _missing_sections(document: PlanDocument, plan: ParsedPlan, typed_length: int, mark: str) -> Iterator[Candidate]:
    """Yield the headings of sections that the plan's form has and the plan does not."""
    if mark not in ("#", "##"):
        return
    if follows_format(plan) or not plan.sections:
        present = {section.name for section in plan.sections}
        for name in outline.NAMES:
            if name not in present:
                yield Candidate(
                    f"## {name}", typed_length, section_purposes().get(name, ""), lsp.CompletionItemKind.Module
                )
        return
    path = document.project.display_path(document.ref.path)
    for start in dialect_of(path, document.project.settings.dialects).required_lines:
        if start.startswith("#") and not any([line.startswith(start) for line in plan.text.lines]):
            yield Candidate(
                start, typed_length, "a section that plans of this form have", lsp.CompletionItemKind.Module
            )


def _has_tasks_near(plan: ParsedPlan, line: int) -> bool:
    """Return whether a line is where tasks are: in Progress, or in a section with tasks or checklists."""
    for section in plan.sections:
        if section.start < line <= section.end:
            boxes = [box for box in plan.boxes if section.start < box.start < section.end]
            return section.name == outline.PROGRESS or bool(boxes)
    return plan.has_tasks_elsewhere


def _boxes(plan: ParsedPlan, typed_length: int, line: int) -> Iterator[Candidate]:
    """Yield an open box, and a checked one with the current time as the tasks around it have it."""
    kind = lsp.CompletionItemKind.Event
    yield Candidate(" [ ] ", typed_length, "an open task", kind, label="[ ]")
    examples = [task for task in plan.tasks if task.timestamp is not None and task.timestamp.is_valid]
    nearest = min(examples, key=lambda task: abs(task.start - line), default=None)
    example = nearest.timestamp if nearest is not None and nearest.timestamp is not None else DEFAULT_TIMESTAMP
    stamp = f"{write_timestamp(now(), example)}{example.separator or ' '}" if has_timestamps(plan) else ""
    yield Candidate(f" [x] {stamp}", typed_length, "a task that is done now", kind, label=f"[x] {stamp}".strip())
