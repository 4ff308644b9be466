"""Which section of an ExecPlan each part of a plan in another form belongs to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import NamedTuple

from execplan.core.plan import outline, section_roles
from execplan.core.plan.model import ParsedPlan, Task
from execplan.core.text.markdown_blocks import CODE, FENCE, HEADING, Block
from execplan.core.text.text_lines import is_blank

_SECTIONS = {
    section_roles.PURPOSE: outline.PURPOSE,
    section_roles.DECISIONS: outline.DECISIONS,
    section_roles.DISCOVERIES: outline.SURPRISES,
    section_roles.OUTCOMES: outline.OUTCOMES,
    section_roles.VALIDATION: outline.VALIDATION,
    section_roles.RECOVERY: outline.RECOVERY,
    section_roles.INTERFACES: outline.INTERFACES,
    section_roles.TASKS: outline.WORK,  # without tasks: these are in Progress
    section_roles.APPROACH: outline.WORK,
}
"""Sections by role; all other roles belong to the context."""
_GUESSED_ROLES = (section_roles.RECOVERY, section_roles.INTERFACES, section_roles.APPROACH)
"""Roles for which a word of the title is enough."""
_SUB_LEVEL = 3
"""Level of headings in a section."""


class PlacedText(NamedTuple):
    """Text of the old plan that goes to one section."""

    section: str
    heading: Block | None
    """Its heading, if it stays, one level below the section's."""
    start: int
    end: int
    shift: int
    """Number of levels by which the headings in it get lower."""
    parent: str = ""
    """Text of the heading above that is repeated, because its other text goes to another section."""


def place_sections(
    plan: ParsedPlan, title: Block | None
) -> tuple[list[PlacedText], dict[str, int], list[tuple[str, str]]]:
    """Return the parts, the line of the heading that each section's own one replaces, and what has no role."""
    headings = section_headings(plan, title)
    top_level = max(2, min([block.level for block in headings], default=2))
    top_headings = [block for block in headings if block.level <= top_level]
    parts: list[PlacedText] = []
    replaced: dict[str, int] = {}
    without_role = []
    used_sections: set[str] = set()
    starts = [block.start for block in headings]
    ends = [*[block.start for block in top_headings[1:]], len(plan.text.lines)]
    for heading, end in zip(top_headings, ends, strict=False):
        lines = range(heading.end, end)
        role = _find_role(heading.text, plan.text.titles)
        section = _section_of(plan, heading.text, role, lines)
        is_replaced = section not in used_sections and _says_the_same(heading.text, section, plan.text.titles)
        if is_replaced:
            replaced[section] = heading.start
        elif role is None and section != outline.PROGRESS:
            without_role.append((heading.text, section))
        shift = 0 if is_replaced else _SUB_LEVEL - heading.level
        part = PlacedText(section, None if is_replaced else heading, heading.end, end, max(shift, 0))
        inner = headings[bisect_left(starts, lines.start) : bisect_left(starts, end)]
        pieces = _split_checklists(plan, part, heading, inner) if section == outline.PROGRESS else [part]
        used_sections.update([piece.section for piece in pieces])
        parts += pieces
    return parts, replaced, without_role


def section_headings(plan: ParsedPlan, title: Block | None) -> list[Block]:
    """Return the headings other than the title, outside of quotes and lists."""
    return [block for block in plan.blocks if block.kind == HEADING and not block.depth and block is not title]


def _find_role(title: str, titles: Mapping[str, str]) -> str | None:
    role = section_roles.find_role(title, titles)
    if role is not None:
        return role
    guess = section_roles.guess_role(title)
    return guess if guess in _GUESSED_ROLES else None


def _section_of(plan: ParsedPlan, title: str, role: str | None, lines: range) -> str:
    """Return the name of the section for the text below a heading."""
    if _has_box(plan.tasks, lines):
        return outline.PROGRESS
    name = outline.canonical_name(title)
    if name is not None and name != outline.PROGRESS:
        return name
    if role is None and _is_mostly_evidence(plan, lines):
        return outline.ARTIFACTS
    return _SECTIONS.get(role or "", outline.CONTEXT)


def _has_box(boxes: Sequence[Task], lines: range) -> bool:
    """Return whether one of several items with a checkbox, in file order, is in some lines."""
    index = bisect_left(boxes, lines.start, key=lambda box: box.start)
    return index < len(boxes) and boxes[index].start in lines


def _is_mostly_evidence(plan: ParsedPlan, lines: range) -> bool:
    """Return whether most lines are code or tables."""
    first = bisect_left(plan.blocks, lines.start, key=lambda block: block.start)
    last = bisect_left(plan.blocks, lines.stop, key=lambda block: block.start)
    blocks = [block for block in plan.blocks[first:last] if block.kind in (FENCE, CODE)]
    code = {at for block in blocks for at in range(block.start, block.end)}
    filled = [at for at in lines if not is_blank(plan.text.lines[at])]
    return 2 * len([at for at in filled if at in code or plan.text.lines[at].lstrip()[:1] == "|"]) > len(filled)


def _says_the_same(title: str, section: str, titles: Mapping[str, str]) -> bool:
    """Return whether a heading says no more than the section's own: it has its name, or only words of its role."""
    if outline.canonical_name(title) == section:
        return title == section or not ("(" in title or " / " in title)
    role = section_roles.find_role(title, titles)
    usual_section = outline.PROGRESS if role == section_roles.TASKS else _SECTIONS.get(role or "")
    words = dropwhile(str.isnumeric, section_roles.title_words(title))
    is_own = outline.title_key(title) in titles  # the settings give the role to the whole title
    return usual_section == section and (is_own or all([section_roles.guess_role(word) == role for word in words]))


def _split_checklists(
    plan: ParsedPlan, part: PlacedText, heading: Block, headings: Sequence[Block]
) -> list[PlacedText]:
    """Split a part with tasks at the headings about validation below which there are checklists."""
    checklists = [task for _, task in plan.checklists]
    pieces = [part]
    level = 0
    for block in headings:
        at = block.start
        if level and block.level <= level:
            level = 0
            pieces[-1] = pieces[-1]._replace(end=at)
            pieces.append(part._replace(heading=None, start=at))
        if level or section_roles.find_role(block.text, plan.text.titles) != section_roles.VALIDATION:
            continue
        end = next((other.start for other in headings if other.start > at and other.level <= block.level), part.end)
        if _has_box(checklists, range(at, end)):
            level = block.level
            pieces[-1] = pieces[-1]._replace(end=at)
            above = [other for other in headings if other.start < at and other.level < block.level] or [heading]
            shift = _SUB_LEVEL + 1 - block.level
            pieces.append(PlacedText(outline.VALIDATION, None, at, part.end, shift, above[-1].text))
    return pieces
