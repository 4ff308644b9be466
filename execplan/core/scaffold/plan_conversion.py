"""Conversion of a plan in another form to an ExecPlan: a pure function of its text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.plan import outline, reader, section_roles
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange, ensure_blocks_closed, plan_content
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.slug import slug
from execplan.core.scaffold.plan_creation import CreatedPlan, file_plan, plan_name
from execplan.core.scaffold.plan_draft import render_plan
from execplan.core.scaffold.plan_templates import BUILT_IN
from execplan.core.scaffold.section_placement import PlacedText, place_sections, section_headings
from execplan.core.text.block_rules import heading_anchor
from execplan.core.text.markdown_blocks import CODE, FENCE, FRONT, HEADING, RULE, Block, scan_blocks
from execplan.core.text.text_lines import Text, is_blank

_ANCHOR_LINK = re.compile(r"(?<=\]\()#([^)\s]+)|(?<=\]: )#(\S+)")


class ConvertedPlan(NamedTuple):
    """An ExecPlan with the content of a plan in another form."""

    text: Text
    without_role: tuple[tuple[str, str], ...]
    """Each heading that doesn't tell what its section is for, and the section with its text."""


class _OldText(NamedTuple):
    """The text of the plan to convert."""

    lines: list[str]
    heading_levels: dict[int, int]
    """Levels of the headings by line."""
    rules: frozenset[int]
    """Lines of rules, which separate sections."""


class _Line(NamedTuple):
    text: str
    origin: int = -1
    """Line of the old plan, or -1."""


def convert(project: Project, ref: PlanRef, options: WriteOptions) -> EditResult:
    """Make an ExecPlan of a plan in another form; raises ExecplanError."""
    return amend(project, ref, build_conversion(project, ref.id), options, command="convert", is_pure=True)


def build_conversion(project: Project, plan_id: str) -> ChangeBuilder:
    """Build a change that makes an ExecPlan of a plan in another form; an ExecPlan stays as it is."""

    def change(plan: ParsedPlan) -> PlanChange:
        if plan.is_document:
            raise ExecplanError(
                "not-a-plan",
                "the file is a document, not a plan: it has no tasks, and no section that only plans have",
                hint="give it a section about the work first, such as `## Tasks`",
            )
        if follows_format(plan):
            return PlanChange((), plan_content(plan), "", (f"already an ExecPlan: {plan_id}",))
        ensure_blocks_closed(plan, len(plan.text.lines))
        skeleton, _ = render_plan(project, f"{BUILT_IN}plan", plan_id, plan_id, "", ())
        converted = convert_plan(plan, skeleton, plan.title or plan_id)
        messages = [f"converted to an ExecPlan: {plan_id}"]
        messages += [f"moved to {section}: {heading}" for heading, section in converted.without_role]
        rebased = rebase_text(plan, plan.text.to_bytes(), converted.text.to_bytes(), "convert, to an ExecPlan", "", "")
        return rebased._replace(messages=tuple(messages))

    return change


def create_converted(project: Project, data: bytes, source: str, options: WriteOptions) -> CreatedPlan:
    """Add an incomplete ExecPlan written elsewhere, with all its text and the missing sections; raises ExecplanError.

    The source is a path, or `-` for standard input.
    """
    project = project._replace(exists=True)
    with ErrorContext("standard input" if source == "-" else source):
        plan = plan_store.parse(project, data)
    ensure_blocks_closed(plan, len(plan.text.lines))
    title = plan.title or "plan"

    def content(plan_id: str) -> tuple[bytes, tuple[str, ...]]:
        skeleton, warnings = render_plan(project, f"{BUILT_IN}plan", plan_id, title, "", ())
        return convert_plan(plan, skeleton, title).text.to_bytes(), warnings

    return file_plan(project, plan_name(project, slug(title)), content, title, options)


def convert_plan(plan: ParsedPlan, skeleton: bytes, fallback_title: str) -> ConvertedPlan:
    """Convert a plan in another form; `skeleton` is an empty ExecPlan, whose placeholder text fills missing sections.

    All text is kept, except headings that say no more than the section's own, and rules between sections. Raises
    ExecplanError if the tasks would change.
    """
    template = reader.read(skeleton)
    title = next((block for block in plan.blocks if block.start == plan.title_line and block.kind == HEADING), None)
    parts, replaced, without_role = place_sections(plan, title)
    lines = _header_lines(plan, template, title, fallback_title)
    old = _read_old_text(plan)
    header, introduction = _split_introduction(plan, title, old.rules)
    lines += _with_blank_line(header)
    example_lines = {task.box_line for task in template.tasks}
    for section in template.sections:
        name = section.name or section.title
        lines += [_Line(""), _Line(f"## {section.title}", replaced.get(name, -1)), _Line("")]
        content = [
            piece for part in parts if part.section == name for piece in _with_blank_line(_part_lines(old, part))
        ]
        if name == outline.PROGRESS:
            boxes = [_Line(f"- [{task.mark}] {task.text}") for task in plan.tasks if task.status is not None]
            content = _with_blank_line(boxes) + content
        if name == (outline.PROGRESS if _has_tasks(plan, introduction) else outline.PURPOSE):
            content = _with_blank_line(introduction) + content
        placeholder = [
            _Line(template.text.lines[at]) for at in range(section.body_start, section.end) if at not in example_lines
        ]
        lines += _strip(content) or _strip(placeholder)
    end = plan.text.ends[0] or "\n"
    texts = _follow_headings(plan, lines)
    text = Text(texts, [end] * len(texts), bom=plan.text.bom, tabs=plan.text.tabs)
    text.titles = plan.text.titles
    if _task_contents(plan) != _task_contents(reader.read_text(text)):
        raise ExecplanError(
            "would-break",
            "converting this plan would change its tasks; nothing was written",
            hint=(
                "if lint reports EP008, give the outer code block longer fences, else move the tasks below one heading; "
                "then try again"
            ),
        )
    return ConvertedPlan(text, tuple(without_role))


def _task_contents(plan: ParsedPlan) -> list[tuple[str, str]]:
    return [(task.mark, task.text) for task in plan.tasks]


def _header_lines(plan: ParsedPlan, template: ParsedPlan, title: Block | None, fallback_title: str) -> list[_Line]:
    """Return the front matter, the title, and the skeleton's text below it."""
    lines = plan.text.lines
    front_end = _front_end(plan)
    header = [_Line(lines[at], at) for at in range(front_end)] + [_Line("")] * bool(front_end)
    origin = title.start if title is not None else -1
    header.append(_Line(f"# {title.text if title is not None else fallback_title}", origin))
    preface = template.text.lines[template.title_line + 1 : template.sections[0].start]
    return header + _with_blank_line(_strip([_Line(line) for line in preface]))


def _front_end(plan: ParsedPlan) -> int:
    return plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0


def _read_old_text(plan: ParsedPlan) -> _OldText:
    blocks = [block for block in plan.blocks if not block.depth]
    levels = {block.start: block.level for block in blocks if block.kind == HEADING}
    return _OldText(plan.text.lines, levels, frozenset([block.start for block in blocks if block.kind == RULE]))


def _split_introduction(
    plan: ParsedPlan, title: Block | None, rules: Collection[int]
) -> tuple[list[_Line], list[_Line]]:
    """Return the text outside of sections in two: what states the plan's status stays in the header."""
    first = min([block.start for block in section_headings(plan, title)], default=len(plan.text.lines))
    header: list[_Line] = []
    rest: list[_Line] = []
    title_lines = range(title.start, title.end) if title is not None else range(0)
    starts = [block.start for block in plan.blocks if not block.depth and block.kind != FRONT and block.start < first]
    for start, end in pairwise([*starts, first]):
        lines = [_Line(plan.text.lines[at], at) for at in range(start, end) if at not in title_lines]
        states_status = any(
            [section_roles.find_role(label, plan.text.titles) == section_roles.STATUS for label in _labels(lines)]
        )
        (header if states_status else rest).extend(lines)
    return _strip(header, rules), _strip(rest, rules)


def _labels(lines: Sequence[_Line]) -> Iterator[str]:
    for line in lines:
        label, colon, _ = line.text.partition(":")
        if colon:
            yield label.strip(" \t>*_-+")


def _has_tasks(plan: ParsedPlan, lines: Sequence[_Line]) -> bool:
    origins = {line.origin for line in lines}
    return any([task.start in origins for task in plan.tasks])


def _part_lines(old: _OldText, part: PlacedText) -> list[_Line]:
    """Return the lines of a part, with its headings at their new level."""
    lines = []
    for at in range(part.start, part.end):
        text = old.lines[at]
        if at in old.heading_levels:
            text = "#" * min(old.heading_levels[at] + part.shift, 6) + text.lstrip(" ").lstrip("#")
        lines.append(_Line(text, at))
    body = _strip(lines, old.rules)
    if part.heading is not None:
        return [_Line(f"### {part.heading.text}", part.heading.start), _Line(""), *body]
    return [_Line(f"### {part.parent}"), _Line(""), *body] if part.parent and body else body


def _strip(lines: Sequence[_Line], rules: Collection[int] = ()) -> list[_Line]:
    """Return lines without blank ones and rules at either end; `rules` are their lines in the old plan."""
    filled = [index for index, line in enumerate(lines) if not is_blank(line.text) and line.origin not in rules]
    return list(lines[filled[0] : filled[-1] + 1]) if filled else []


def _with_blank_line(lines: list[_Line]) -> list[_Line]:
    """Return lines after a blank one."""
    return [_Line(""), *lines] if lines else []


def _follow_headings(plan: ParsedPlan, lines: Sequence[_Line]) -> list[str]:
    """Return the text of lines, with the links to headings of the old plan that have another anchor now."""
    texts = [line.text for line in lines]
    old_anchors = _anchors_by_line(plan.blocks)
    blocks = scan_blocks(texts)
    new_anchors = {lines[at].origin: anchor for at, anchor in _anchors_by_line(blocks).items()}
    changed = {old: new_anchors[at] for at, old in old_anchors.items() if new_anchors.get(at, old) != old}
    if not changed:
        return texts
    code = {at for block in blocks if block.kind in (FENCE, CODE) for at in range(block.start, block.end)}

    def follow(match: re.Match[str]) -> str:
        anchor = match[1] or match[2]
        return f"#{changed.get(anchor.lower(), anchor)}"

    return [text if at in code else _ANCHOR_LINK.sub(follow, text) for at, text in enumerate(texts)]


def _anchors_by_line(blocks: Sequence[Block]) -> dict[int, str]:
    counts: dict[str, int] = {}
    headings = [block for block in blocks if block.kind == HEADING]
    return {block.start: heading_anchor(block.text.replace("`", "").replace("*", ""), counts) for block in headings}
