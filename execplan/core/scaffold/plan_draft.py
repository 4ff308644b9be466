"""The text of a new plan: values inserted into a template, read back and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from execplan.core.plan.item_format import escape_heading
from execplan.core.plan.line_grammar import is_revision_note, text_without_timestamp
from execplan.core.plan.text_blocks import escape_lead
from execplan.core.plan_store.author import author
from execplan.core.project import plan_names
from execplan.core.scaffold import plan_templates
from execplan.core.text.text_lines import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.project.project import Project
    from execplan.core.scaffold.template_rendering import TemplateVariables

_TEMPLATE_HINTS = {
    "title": "start the plan with `# {{ title }}`",
    "tasks": "write `- [ ] {{ task }}` in a loop over tasks, under `## Progress`; or omit --task",
    "purpose": "write {{ purpose }} where it belongs; or omit --purpose",
}
"""Hints on where a template must use each value."""


def render_plan(
    project: Project, template: str, name: str, title: str, purpose: str, tasks: Sequence[str]
) -> tuple[bytes, tuple[str, ...]]:
    """Return the bytes of a new plan with the ID `name`, and warnings.

    Raises ExecplanError if the plan lacks a given value, is too large, or has an unexpected structure.
    """
    from execplan.core.scaffold.template_rendering import TemplateVariables, render_template

    if is_revision_note(purpose):
        purpose_text = f"- {purpose}"
    elif purpose:
        purpose_text = escape_lead(purpose)
    else:
        purpose_text = ""
    author_name = (
        author(project) if plan_templates.has_own(project) else ""
    )  # the built-in templates use no author, and asking Git takes time
    artifacts_dir = project.display_path(project.artifacts_dir(name))
    number = plan_names.used_number(project.settings.name, name)
    variables = TemplateVariables(
        escape_heading(title),
        purpose_text,
        tuple(tasks),
        f"{now():%Y-%m-%d}",
        name,
        number,
        name[: name.index(number) + len(number)] if number else name,
        artifacts_dir,
        author_name,
        template,
    )
    rendered = render_template(project, template, variables)
    data = rendered.text.encode("utf-8")
    if len(data) > reader.MAX_BYTES:
        raise reader.too_large_error(len(data))
    plan = reader.read_text(Text.from_str(rendered.text))
    missing_field = _missing_field(plan, variables)
    if rendered.uses_own_template:
        if missing_field:
            reason = f"{rendered.path}:1: the rendered plan lacks the given {missing_field}"
            raise ExecplanError("broken-template", reason, hint=_TEMPLATE_HINTS[missing_field], line=1)
        return data, _lint_errors(rendered.path, plan)
    has_extra_tasks = variables.tasks and len(plan.tasks) > len(variables.tasks)
    if plan_templates.has_other_form(template):
        has_skeleton = len(plan.sections) == _section_count(project, template, variables)
    else:
        has_skeleton = plan.title == variables.title and len(plan.sections) == len(outline.NAMES)
    if missing_field or has_extra_tasks or not has_skeleton:
        raise ExecplanError(
            "would-break",
            "this text would change the skeleton of the plan",
            hint="reword it; a purpose can contain headings of level 3 and deeper: ###",
        )
    return data, ()


def _section_count(project: Project, template: str, variables: TemplateVariables) -> int:
    """Return the number of sections of a built-in template, whatever the values are."""
    from execplan.core.scaffold.template_rendering import render_template

    skeleton = render_template(project, template, variables._replace(title="Plan", purpose="", tasks=()))
    return len(reader.read_structure(Text.from_str(skeleton.text)).sections)


def _missing_field(plan: ParsedPlan, variables: TemplateVariables) -> str:
    """Return the name of the first value that is missing from the plan; empty if none is."""
    if variables.title not in (plan.title or ""):
        return "title"
    task_texts = iter([task.text.removeprefix(f"#{task.number} ") for task in plan.tasks])
    if not all([text_without_timestamp(task) in task_texts for task in variables.tasks]):
        return "tasks"
    return "" if variables.purpose in plan.text.to_str() else "purpose"


def _lint_errors(path: str, plan: ParsedPlan) -> tuple[str, ...]:
    """Return the lint errors in a plan from a repository's template, except those allowed in a draft."""
    errors = features.load(features.DRAFT_ERRORS)(plan)
    return tuple([f"from {path}: {finding.code} on line {finding.line}: {finding.message}" for finding in errors])
