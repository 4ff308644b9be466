"""What an editor shows about the place under the pointer: findings, rules, tasks, sections, attributes, steps and plans."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from execplan.core.errors import ExecplanError
from execplan.core.plan.section_roles import find_role
from execplan.core.plan.task_checks import find_check
from execplan.core.project import builtin_templates
from execplan.core.text.markdown_blocks import HEADING
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.annotations.annotated_steps import find_annotated_steps
from execplan.execution.attributes import ATTRIBUTES_BY_NAME, EXECUTION, PLAN_ATTRIBUTES, Attribute
from execplan.team.dependencies.plan_resolver import PlanResolver
from execplan.views.language_server.mention_targets import TargetFinder
from execplan.views.language_server.plan_mentions import PLAN, RULE, STEP, TASK, Mention, mention_at
from execplan.views.language_server.rule_pages import rule_markdown
from execplan.views.language_server.task_commands import find_claim_names

if TYPE_CHECKING:
    from execplan.core.plan.model import Task
    from execplan.views.language_server.open_documents import OpenDocuments
    from execplan.views.language_server.plan_document import PlanDocument

_SECTION_LINE: Final = re.compile(r"^  (\S.*?)(?: \*)? {2,}(\S.*)$", re.MULTILINE)
"""A section and what it is for in the help topic `format`."""
_MAX_COMMAND: Final = 200


def find_hover(documents: OpenDocuments, document: PlanDocument, position: lsp.Position) -> lsp.Hover | None:
    """Return what is known about a position; None if nothing is."""
    if document.plan is None:
        return None
    line, column = document.column_at(position)
    mention = mention_at(document, line, column)
    parts = [rule_markdown(code) for code in _finding_codes(document, line, column)]
    text, place = "", document.lines_range(line, line + 1)
    if mention is not None:
        text = _describe_mention(documents, document, mention)
        place = document.range_at(line, mention.start, line, mention.end) if text else place
    text = text or _describe_attribute(document, line, column) or _describe_line(document, line)
    parts = [part for part in dict.fromkeys([text, *parts]) if part]
    if not parts:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(parts)), place)


@cache
def section_purposes() -> dict[str, str]:
    """Return what each section of the format is for."""
    return dict(_SECTION_LINE.findall(builtin_templates.read_text("explain/format.md")))


def describe_attribute(attribute: Attribute) -> str:
    """Return the meaning of an attribute, with its values and limits, as Markdown."""
    text = attribute.about
    if attribute.choices:
        text += f" Values: {', '.join([f'`{choice}`' for choice in attribute.choices])}."
    if attribute.limits is not None:
        text += " From {:,} to {:,}.".format(*attribute.limits)
    return text


def _finding_codes(document: PlanDocument, line: int, column: int) -> list[str]:
    return [
        finding.code
        for finding in document.findings
        if (finding.line, finding.column) <= (line + 1, column + 1) <= (finding.end_line, finding.end_column + 1)
    ]


def _describe_mention(documents: OpenDocuments, document: PlanDocument, mention: Mention) -> str:
    if mention.kind == RULE:
        return rule_markdown(mention.name)
    if mention.kind == STEP:
        return _describe_step(document, mention.name)
    finder = TargetFinder(documents, document.project)
    target = finder.resolve(document, mention)
    if target is None:
        return f"`{mention.name}`: {_plan_problem(document, mention.name)}" if mention.kind == PLAN else ""
    if target.kind == TASK:
        other = documents.find(target.path)
        task = other.tasks_by_id.get(target.name) if other is not None else None
        return _describe_task(other, target.name, task) if other is not None and task is not None else ""
    return _describe_plan(documents.find(target.path)) if target.kind == PLAN else ""


def _plan_problem(document: PlanDocument, name: str) -> str:
    try:
        return PlanResolver(document.project).resolve(name).problem
    except ExecplanError as error:
        return error.message


def _describe_plan(document: PlanDocument | None) -> str:
    if document is None or document.plan is None:
        return ""
    counts = document.plan.counts()
    state = document.plan.state(archived=document.ref.archived)
    lines = [f"**{document.plan.title or document.ref.id}**", f"`{document.ref.id}`, {state}"]
    if counts["total"]:
        lines[1] += f", {counts['done']} of {counts['total']} tasks done"
    unfinished = document.plan.unfinished_tasks
    if unfinished:
        lines.append(f"Next: {unfinished[0].text}")
    return "\n\n".join(lines)


def _describe_task(document: PlanDocument, task_id: str, task: Task) -> str:
    assert document.plan is not None
    lines = [f"**Task {task.number}** `{task_id}`, {task.state_label}: {task.text}"]
    if task.timestamp is not None:
        lines.append(f"Time: {task.timestamp.date_time}")
    holder = find_claim_names(document).get(task_id)
    if holder:
        lines.append(f"Claimed by {holder}")
    check = find_check(document.plan, task)
    if check is not None:
        lines.append(f"Check: {check.problem or f'`{check.command}`'}")
    return "\n\n".join(lines)


def _describe_step(document: PlanDocument, name: str) -> str:
    assert document.plan is not None
    drafts = [
        draft for draft in find_annotated_steps(document.plan).drafts if name in (draft.id, draft.attributes.get("id"))
    ]
    if not drafts:
        return f"No step has the ID `{name}`."
    draft = drafts[-1]
    lines = [f"**Step** `{name}`, {draft.attributes.get('type', 'execute_command')}"]
    if draft.command:
        lines.append(f"~~~~sh\n{draft.command[:_MAX_COMMAND]}\n~~~~")
    if draft.attributes.get("target"):
        lines.append(f"Target: `{draft.attributes['target']}`")
    if draft.needs:
        lines.append(f"Needs: {', '.join([f'`{need}`' for need in draft.needs])}")
    return "\n\n".join(lines)


def _describe_attribute(document: PlanDocument, line: int, column: int) -> str:
    """Return the help of the attribute of a code block at a place; empty if there is none."""
    assert document.plan is not None
    fences = find_annotated_fences(document.plan)
    for fence in (*fences.steps, *fences.settings):
        if fence.line != line:
            continue
        table = {attribute.name: attribute for attribute in PLAN_ATTRIBUTES}
        attributes_by_name = table if fence.info.mark == EXECUTION else ATTRIBUTES_BY_NAME
        for attribute in fence.info.attributes:
            is_here = attribute.start <= column - fence.column <= attribute.end
            if is_here and attribute.name in attributes_by_name:
                return f"`{attribute.name}`: {describe_attribute(attributes_by_name[attribute.name])}"
    return ""


def _describe_line(document: PlanDocument, line: int) -> str:
    """Return what is known about a line: the section of a heading, or the task."""
    assert document.plan is not None
    if line == document.plan.title_line:
        return _describe_plan(document)
    task = document.task_on(line)
    if task is not None:
        return _describe_task(document, *task)
    section = next((section for section in document.plan.sections if section.start == line), None)
    if section is not None and section.name is not None:
        living = " It is a living section: keep it up to date while you work." if section.is_living else ""
        return f"**{section.name}**: {section_purposes().get(section.name, '')}.{living}"
    heading = next((block for block in document.plan.blocks if block.kind == HEADING and block.start == line), None)
    role = find_role(heading.text, document.project.titles) if heading is not None else None
    return f"A section about {role.replace('_', ' ')}, by its heading." if role is not None else ""
