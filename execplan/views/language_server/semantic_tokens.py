"""Semantic tokens: boxes and timestamps of tasks, labels and dates of entries, and the attributes of steps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from execplan.core.plan.line_grammar import read_checkbox, read_label
from execplan.core.plan.model import DONE, OPEN
from execplan.core.timestamps import read_timestamp
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.views.language_server.editor_positions import count_units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import Task
    from execplan.views.language_server.plan_document import PlanDocument

TYPES: Final = ("enumMember", "number", "keyword", "function", "property", "string")
_BOX, _TIME, _LABEL, _STEP, _ATTRIBUTE, _VALUE = range(len(TYPES))
MODIFIERS: Final = ("done", "open", "dropped")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MAX_LABEL: Final = 60

Token = tuple[int, int, int, int, int]
"""Line, column and end in characters, the index of the type, and the bits of the modifiers."""


def encode_tokens(document: PlanDocument) -> list[int]:
    """Return the tokens of a document as the protocol encodes them: each relative to the one before."""
    encoded: list[int] = []
    last_line = last_start = 0
    for line, column, end, kind, modifiers in sorted(set(_tokens(document))):
        text = document.lines[line]
        start = document.position_at(line, column).character
        length = count_units(text[column:end], document.encoding)
        is_same_line = line == last_line
        if length <= 0:
            continue
        encoded += [line - last_line, start - last_start if is_same_line else start, length, kind, modifiers]
        last_line, last_start = line, start
    return encoded


def _tokens(document: PlanDocument) -> Iterator[Token]:
    if document.plan is None:
        return
    for task in document.plan.boxes:
        yield from _box_tokens(document, task)
    plan = document.plan
    for entry in (*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions):
        for line in range(entry.start, min(entry.end, len(document.lines))):
            yield from _entry_tokens(document.lines[line], line)
    fences = find_annotated_fences(plan)
    for fence in (*fences.steps, *fences.settings):
        if fence.info.id is not None:
            start = fence.column + fence.info.id.start
            yield fence.line, start, fence.column + fence.info.id.end, _STEP, 0
        for attribute in fence.info.attributes:
            start, end = fence.column + attribute.start, fence.column + attribute.end
            name_end = min(start + len(attribute.name), end)
            yield fence.line, start, name_end, _ATTRIBUTE, 0
            if name_end + 1 < end:
                yield fence.line, name_end + 1, end, _VALUE, 0


def _box_tokens(document: PlanDocument, task: Task) -> Iterator[Token]:
    """Yield the checkbox or the status of a task, and its timestamp."""
    line = task.box_line
    text = document.lines[line]
    if task.state == DONE:
        modifiers = 1
    elif task.state == OPEN:
        modifiers = 2
    elif task.is_dropped:
        modifiers = 4
    else:
        modifiers = 0
    if task.status is not None:
        status = task.status.text.strip()
        start = text.find(status, max(task.status.column, 0)) if status else -1
        if start >= 0:
            yield line, start, start + len(status), _BOX, modifiers
        return
    start = text.find(f"[{task.mark}]")
    if start < 0:
        return
    yield line, start, start + 3, _BOX, modifiers
    checkbox = read_checkbox(text[start:])
    if checkbox is not None and checkbox.timestamp is not None:
        begin = start + 3 + len(checkbox.leading_space)
        yield line, begin, begin + len(checkbox.timestamp.text), _TIME, 0


def _entry_tokens(text: str, line: int) -> Iterator[Token]:
    """Yield the label at the start of a line of an entry, and a date after it, or the one that the line starts with."""
    content = text.lstrip(" \t-*+")
    start = len(text) - len(content)
    label = read_label(text)
    colon = min([at for at in (text.find(":", start), text.find("：", start)) if at >= 0], default=-1)
    if label is not None and start < colon <= start + _MAX_LABEL:
        yield line, start, colon, _LABEL, 0
        if label[0].lower().startswith("date") and (date := _DATE.search(text, colon)) is not None:
            yield line, date.start(), date.end(), _TIME, 0
    elif (timestamp := read_timestamp(content)) is not None:
        yield line, start, start + len(timestamp.text), _TIME, 0
