"""Output of `new`: the created plan, and the templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.plan import reader
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.scaffold import plan_templates
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.text_lines import digest
from execplan.team.advice.plan_advice import advise_new_plan

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.project.project import Project
    from execplan.core.scaffold.plan_creation import CreatedPlan


def created_answer(created_plan: CreatedPlan, options: WriteOptions) -> Answer:
    """Return the answer for a plan that was created, or would be in a dry run."""
    data = {
        "id": created_plan.id,
        "path": created_plan.path,
        "artifacts": created_plan.paths[1].rstrip("/"),
        "changed": True,
        "digest": digest(created_plan.data),
        "commit": created_plan.commit,
    }
    if options.dry_run:
        text = printable_lines([f"would create {path}" for path in created_plan.paths], created_plan.diff)
        return Answer({**data, "diff": created_plan.diff}, text, warnings=created_plan.warnings)
    lines = [created_plan.path, *[f"attached the original as {path}" for path in created_plan.paths[2:]]]
    lines += [f"committed {created_plan.commit[:12]}"] if created_plan.commit else []
    name = quote_plan_name(created_plan.id, created_plan.path)
    advice = advise_new_plan(reader.read(created_plan.data), name)
    next_commands = (*advice.commands, f"execplan lint {name}")
    return Answer(
        data, printable_lines(lines), warnings=created_plan.warnings, next_commands=next_commands, work=advice.work
    )


def templates_answer(project: Project) -> Answer:
    """List all templates and their origin."""
    all_templates = plan_templates.list_templates(project)
    names = [escape_unprintable(template.name) for template in all_templates]
    width = max(map(len, names))
    lines = []
    for name, template in zip(names, all_templates, strict=True):
        if template.overrides:
            origin = "replaces the built-in"
        elif template.own:
            origin = "own"
        else:
            origin = "built in"
        lines.append(
            f"{name:{width}}  {template.about}  ({origin})" if template.about else f"{name:{width}}  ({origin})"
        )
    data = {"templates": [template._asdict() for template in all_templates]}
    return Answer(data, printable_lines(lines), next_commands=("execplan new 'Title' --template bugfix",))
