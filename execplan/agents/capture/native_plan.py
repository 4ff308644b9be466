"""Conversion of a plan that an agent program wrote into the sections of an ExecPlan: a pure function of its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from execplan.agents.capture import plan_tasks
from execplan.agents.capture.native_text import NativeText, make_safe, read_native_text
from execplan.agents.capture.plan_parts import (
    TASKS,
    HeadingPart,
    find_label,
    has_only_commands,
    is_numbered,
    list_items,
    lists_files,
    split_parts,
)
from execplan.agents.capture.plan_tasks import NativeTask, PlacedPart
from execplan.core.plan import outline
from execplan.core.text.markdown_blocks import HEADING, PARAGRAPH, scan_blocks

UNTITLED = "Captured plan"
MAX_TITLE_LENGTH = 100
_MAX_PURPOSE_PARAGRAPHS = 3
_MARKUP = re.compile(r"^\[.\](?: |$)|[*_`#]+")
_CHECKBOX = re.compile(r"(?<=[-*+.)])([ \t]+)\[.\](?:[ \t]+|$)")


class NativePlan(NamedTuple):
    """The content of a native plan by section."""

    title: str
    sections: dict[str, list[str]]
    """Lines of each section that has content, by the section's name; Progress has the tasks."""
    tasks: tuple[NativeTask, ...]


def convert(text: str, name: str = "") -> NativePlan:
    """Convert a native plan; `name` is its title if the text has none.

    Every word of the text is in some section or the title, except tags, the IDs and states of to-dos, and headings that
    say the same as their section's.
    """
    native_text = read_native_text(text)
    title, parts = _take_title(split_parts(native_text.lines))
    title = title or native_text.front_matter.name
    title = title or _first_sentence(native_text) or name or UNTITLED
    placed_parts = _place_parts(parts)
    front_tasks = [NativeTask(todo.text, todo.mark) for todo in native_text.front_matter.todos]
    tasks = plan_tasks.find_tasks(placed_parts, only_checkboxes=bool(front_tasks))
    sections = _section_lines(placed_parts, tasks)
    tasks = front_tasks + tasks
    _add_front_matter(sections, native_text, title)
    progress = plan_tasks.format_tasks(tasks)
    if progress:
        sections[outline.PROGRESS] = progress
    ordered = {name: sections[name] for name in outline.NAMES if name in sections}
    return NativePlan(title_text(title), ordered, tuple(tasks))


def _take_title(parts: list[HeadingPart]) -> tuple[str, list[HeadingPart]]:
    """Return the title and the parts without its heading: the first heading, if no other is as high."""
    first = next((index for index, part in enumerate(parts) if part.heading), None)
    if first is None:
        return "", parts
    level, label = parts[first].level, parts[first].label
    peers = [part for part in parts[first + 1 :] if part.heading and part.level <= level]
    is_title = (not peers and (len(parts) > first + 1 or level == 1 or not label)) or (level == 1 and not label)
    if not is_title or len(title_text(parts[first].heading)) < len(" ".join(parts[first].heading.split())):
        return "", parts
    rest = parts[first]._replace(level=0, heading="", label="")
    return parts[first].heading, [
        *parts[:first],
        *([rest] if any(map(str.strip, rest.lines)) else []),
        *parts[first + 1 :],
    ]


def _first_sentence(native_text: NativeText) -> str:
    """Return the first heading or sentence, as a title for a plan without one."""
    if native_text.front_matter.overview:
        return _shorten_title(native_text.front_matter.overview)
    for block in scan_blocks(native_text.lines, allow_front_matter=False):
        if block.kind == PARAGRAPH or (block.kind == HEADING and not find_label(block.text)):
            text = " ".join(
                [block.text, *native_text.lines[block.start + 1 : block.end]]
                if block.kind == PARAGRAPH
                else [block.text]
            )
            if any([char.isalnum() for char in text]):
                return _shorten_title(text)
    return ""


def _shorten_title(text: str) -> str:
    text = " ".join(_MARKUP.sub("", text).split())
    for end in (". ", "。", ": "):
        text = text.split(end, 1)[0] if len(text) > MAX_TITLE_LENGTH // 2 else text
    if len(text) > MAX_TITLE_LENGTH:
        text = text[:MAX_TITLE_LENGTH].rpartition(" ")[0] or text[:MAX_TITLE_LENGTH]
    return text.rstrip(".:;, ")


def title_text(text: str) -> str:
    """Return a text as a plan's title: one line, printable, and not too long."""
    printable = "".join([char if char.isprintable() else " " for char in text])
    return " ".join(printable.split())[: 3 * MAX_TITLE_LENGTH].strip() or UNTITLED


def _place_parts(parts: Sequence[HeadingPart]) -> list[PlacedPart]:
    """Return each part with its section: by its label, its parent's section, or what is in it."""
    placed: list[PlacedPart] = []
    ancestors: list[PlacedPart] = []
    has_headings = any([part.heading for part in parts])
    for part in parts:
        while ancestors and ancestors[-1][0].level >= part.level:
            ancestors.pop()
        parent = ancestors[-1] if ancestors and ancestors[-1][0].level else None
        if part.level == 0:
            pieces = _split_introduction(part, has_headings=has_headings)
        elif parent is not None and any([is_numbered(ancestor.heading) for ancestor, _ in ancestors]):
            pieces = [(part, parent[1])]
        elif part.label and (parent is None or parent[1] == outline.WORK or not part.heading):
            pieces = [(part, outline.WORK if part.label == TASKS else part.label)]
        elif parent is not None:
            pieces = [(part, parent[1])]
        else:
            pieces = [(part, _section_by_content(part))]
        placed += pieces
        ancestors.append(pieces[-1])
    return placed


def _split_introduction(part: HeadingPart, *, has_headings: bool) -> list[PlacedPart]:
    """Split the text before the first heading: the first paragraphs are the purpose."""
    end = paragraph_count = 0
    for block in part.blocks:
        is_text = block.kind == PARAGRAPH and not block.text.startswith("|")
        if not is_text or paragraph_count == (_MAX_PURPOSE_PARAGRAPHS if has_headings else 1):
            break
        end, paragraph_count = block.end, paragraph_count + 1
    purpose, rest = part._replace(lines=part.lines[:end]), part._replace(lines=part.lines[end:])
    pieces = [(purpose, outline.PURPOSE)] if end else []
    if any(map(str.strip, rest.lines)) or not pieces:
        pieces.append((rest, _section_by_content(rest)))
    return pieces


def _section_by_content(part: HeadingPart) -> str:
    if is_numbered(part.heading):
        return outline.WORK
    if has_only_commands(part):
        return outline.STEPS
    return outline.CONTEXT if lists_files(part) else outline.WORK


def _section_lines(placed_parts: Sequence[PlacedPart], tasks: Sequence[NativeTask]) -> dict[str, list[str]]:
    """Return the lines of each section, with headings one level below the section's and deeper."""
    sections: dict[str, list[str]] = {}
    groups = {task.group for task in tasks}
    ancestors: list[tuple[int, str, int]] = []
    for part, section in placed_parts:
        while ancestors and ancestors[-1][0] >= part.level:
            ancestors.pop()
        depth = max([level for _, name, level in ancestors if name == section], default=2) + 1
        is_heading_needed = bool(part.heading) and not _is_said_by(part.heading, section)
        is_checklist = section == outline.VALIDATION
        if not is_checklist and plan_tasks.is_in_progress(part, groups):
            continue  # Progress has all of it
        body = part.lines if is_checklist else without_checkboxes(part)
        lines = [*([f"{'#' * min(depth, 6)} {part.heading}", ""] if is_heading_needed else []), *_strip(body)]
        if part.heading:
            ancestors.append((part.level, section, depth if is_heading_needed else depth - 1))
        if lines:
            target = sections.setdefault(section, [])
            target += [*([""] if target else []), *_strip(lines)]
    return {name: _demote_headings(make_safe(lines)) for name, lines in sections.items()}


def _is_said_by(heading: str, section: str) -> bool:
    """Return whether a section's own heading says the same as a heading in it."""
    return set(outline.title_key(heading).split()) <= set(outline.title_key(section).replace("/", " ").split())


def without_checkboxes(part: HeadingPart) -> list[str]:
    """Return the lines of a part with plain items: their checkboxes are in Progress."""
    lines = list(part.lines)
    for item in list_items(part):
        if item.mark:
            lines[item.start] = _CHECKBOX.sub(r"\1", lines[item.start], count=1)
    return lines


def _demote_headings(lines: list[str]) -> list[str]:
    """Return lines without headings of the levels that start a section."""
    lines = list(lines)
    for block in reversed(scan_blocks(lines, allow_front_matter=False)):
        if block.kind == HEADING and not block.depth and block.level < 3:
            lines[block.start : block.end] = [f"### {' '.join(block.text.split())}"]
    return lines


def _add_front_matter(sections: dict[str, list[str]], native_text: NativeText, title: str) -> None:
    """Add the overview, the name, and what else was written around the plan."""
    front_matter = native_text.front_matter
    overview = _strip(front_matter.overview.split("\n"))
    if front_matter.name and title_text(front_matter.name) != title_text(title):
        overview = [front_matter.name, *(["", *overview] if overview else [])]
    if overview:
        purpose = sections.get(outline.PURPOSE, [])
        sections[outline.PURPOSE] = _demote_headings(make_safe([*overview, *(["", *purpose] if purpose else [])]))
    for lines in (_strip(front_matter.other_lines), _strip(native_text.surrounding_lines)):
        if lines:
            context = sections.get(outline.CONTEXT, [])
            sections[outline.CONTEXT] = [*context, *([""] if context else []), *_demote_headings(lines)]
    long_todos = [
        todo.text
        for todo in front_matter.todos
        if plan_tasks.shorten(" ".join(todo.text.split())) != " ".join(todo.text.split())
    ]
    if long_todos:
        work = sections.get(outline.WORK, [])
        todo_lines = [f"- {' '.join(text.split())}" for text in long_todos]
        sections[outline.WORK] = [*work, *([""] if work else []), *todo_lines]


def _strip(lines: Sequence[str]) -> list[str]:
    """Return lines without blank ones at either end."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    return list(lines[filled[0] : filled[-1] + 1]) if filled else []
