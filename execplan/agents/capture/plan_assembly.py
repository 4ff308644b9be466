"""A native plan as the text of an ExecPlan: a template, with the plan's content in its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execplan.agents.capture.native_text import fence
from execplan.core.plan import outline, reader
from execplan.core.plan.model import ParsedPlan, Section
from execplan.core.plan.plan_change import insert_section
from execplan.core.text.text_lines import Edit, Text, apply_edits, is_blank

_MAX_ROUNDS = 3
SECRET_CODE = "EP410"  # noqa: S105 - the code of a rule
"""Code of the rule against secrets, whose findings are for the author."""


def fill_template(template_text: str, sections: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a template with the lines of each given section in place of its own.

    If the structure of some lines would break the plan, they are put into a code block.
    """
    bodies = {name: list(lines) for name, lines in sections.items()}
    for _ in range(_MAX_ROUNDS):
        text = set_sections(template_text, bodies)
        plan = reader.parse(text)
        broken_names = _broken_sections(plan, bodies)
        if not broken_names:
            return text
        for name in broken_names:
            lines = bodies.pop(name)
            target = outline.WORK if name == outline.PROGRESS else name
            earlier_lines = bodies.get(target, [])
            bodies[target] = [*earlier_lines, *([""] if earlier_lines else []), *fence(lines)]
    return set_sections(template_text, {outline.WORK: fence([line for lines in sections.values() for line in lines])})


def _broken_sections(plan: ParsedPlan, bodies: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of the sections that have errors, or that other text has changed."""
    from execplan.linter.runner import draft_errors

    titles = [section.name for section in plan.sections]
    if any([titles.count(name) != 1 for name in bodies]):
        return [name for name in bodies if name != outline.PROGRESS]
    lines = [finding.line - 1 for finding in draft_errors(plan) if finding.code != SECRET_CODE]
    sections = [section for line in lines for section in plan.sections if section.start <= line < section.end]
    return list(dict.fromkeys([name for section in sections if (name := section.name) and name in bodies]))


def set_sections(plan_text: str, bodies: Mapping[str, Sequence[str]]) -> str:
    """Return a plan's text with the lines of each given section replaced; a missing section is added."""
    text = Text.from_str(plan_text)
    for name, lines in bodies.items():
        plan = reader.read_text(text)
        section = plan.section(name)
        edit = body_edit(plan, section, lines) if section is not None else insert_section(plan, name, lines)[0]
        text = apply_edits(plan.text, [edit])
    return text.to_str()


def body_edit(plan: ParsedPlan, section: Section, lines: Sequence[str]) -> Edit:
    """Return the edit that replaces the lines of a section, between its blank lines."""
    plan_lines = plan.text.lines
    filled_lines = [
        index for index in range(section.body_start, section.content_end) if not is_blank(plan_lines[index])
    ]
    if filled_lines:
        return Edit(filled_lines[0], filled_lines[-1] + 1, tuple(lines))
    blank = [""] if section.content_end > section.body_start else []
    return Edit(section.body_start, section.content_end, ("", *lines, *(blank or [""])))


def section_lines(plan: ParsedPlan, name: str) -> list[str]:
    """Return the lines of a section without blank ones at either end; none if it is missing."""
    section = plan.section(name)
    if section is None:
        return []
    lines = plan.text.lines[section.body_start : section.content_end]
    filled = [index for index, line in enumerate(lines) if not is_blank(line)]
    return lines[filled[0] : filled[-1] + 1] if filled else []
