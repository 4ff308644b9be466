"""A plan without what only execplan reads, and without what says nothing: the text that other programs and people get."""

from __future__ import annotations

from typing import NamedTuple

from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import has_no_content
from execplan.core.text.markdown_blocks import FENCE, HTML, Block
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import Text
from execplan.execution.annotations.info_string import parse_info_string

_INTRODUCTION = "This ExecPlan is a living document."
"""Beginning of the sentence about upkeep in our templates."""


class CleanPlan(NamedTuple):
    """A plan that was cleaned, and what it has lost."""

    plan: ParsedPlan
    losses: tuple[str, ...]


def clean_plan(parsed: ParsedPlan) -> CleanPlan:
    """Return a plan without placeholder text, empty sections, comments, and attributes of steps."""
    lines: list[str | None] = list(parsed.text.lines)
    attributes = comments = 0
    for block in parsed.blocks:
        if block.kind == FENCE and (opening := _without_attributes(parsed.text.lines[block.start], block.text)):
            lines[block.start] = opening
            attributes += 1
        elif _is_comment(parsed, block):
            lines[block.start : block.end] = [None] * (block.end - block.start)
            comments += 1
    for at in parsed.placeholder_lines:
        lines[at] = None
    first = parsed.sections[0].start if parsed.sections else len(lines)
    for at in range(first):
        if parsed.text.lines[at].startswith(_INTRODUCTION):
            lines[at] = None
    for section in parsed.sections:
        if all([has_no_content(line) for line in lines[section.body_start : section.end] if line and line.strip()]):
            lines[section.start : section.end] = [None] * (section.end - section.start)
    losses = [f"attributes of steps are left out: {format_count(attributes, 'code block')}"] if attributes else []
    losses += [f"comments are left out: {comments}"] if comments else []
    text = Text.from_str(_join([line for line in lines if line is not None]))
    text.titles = parsed.text.titles
    return CleanPlan(reader.read_text(text), tuple(losses))


def _without_attributes(line: str, info: str) -> str:
    """Return the first line of a code block without the attributes of a step; empty if it has none."""
    parsed = parse_info_string(info.strip()) if "{" in info else None
    return line[: line.rindex(info.strip())] + parsed.language if parsed is not None and info.strip() in line else ""


def _is_comment(parsed: ParsedPlan, block: Block) -> bool:
    if block.kind != HTML or block.depth:
        return False
    text = "\n".join(parsed.text.lines[block.start : block.end]).strip()
    return text.startswith("<!--") and text.endswith("-->") and text.count("-->") == 1


def _join(lines: list[str]) -> str:
    """Return lines as a text that ends with one line end, without blank lines at its start or several in a row."""
    compact_lines = [line for at, line in enumerate(lines) if line.strip() or not at or lines[at - 1].strip()]
    return "\n".join(compact_lines).strip("\n") + "\n"
