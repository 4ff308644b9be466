"""A plan as a change of OpenSpec: proposal, design and numbered tasks."""

from __future__ import annotations

from execplan.core.clock import now
from execplan.core.plan.line_grammar import read_prefix
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.outline import WORK
from execplan.core.plan.section_roles import APPROACH
from execplan.core.project.slug import slug
from execplan.exchange.exchange_plan import BEGUN, DROPPED, ExchangePlan, ExportedFiles, task_lines, to_box
from execplan.exchange.plan_reading import find_losses, find_section_text

_NO_SPECS = "no specification is written, because a plan has none: the change says `skip_specs` in its .openspec.yaml"


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the files of the change, by their paths in a repository."""
    directory = f"openspec/changes/{_change_name(plan)}"
    changes = find_section_text(plan, WORK, APPROACH, parsed.text.titles)
    changes = changes or "\n".join(
        [f"- {task.text}" for task in plan.tasks if not task.depth and task.state != DROPPED]
    )
    rest = [section for section in plan.sections if section.text not in (plan.purpose, changes)]
    design = [f"## {section.title or 'Context'}\n\n{section.text}" for section in rest]
    files = {
        ".openspec.yaml": f"schema: spec-driven\ncreated: {now():%Y-%m-%d}\nskip_specs: true\n",
        "proposal.md": f"# {plan.title}\n\n## Why\n\n{plan.purpose or plan.title}\n\n## What Changes\n\n{changes}\n",
        "tasks.md": _tasks(plan),
    }
    files |= {"design.md": "\n\n".join(design) + "\n"} if design else {}
    contents = {f"{directory}/{name}": text.encode() for name, text in files.items()}
    return ExportedFiles(contents, (*find_losses(plan, (BEGUN, "depth", "done_at")), _NO_SPECS))


def _change_name(plan: ExchangePlan) -> str:
    """Return a name that OpenSpec accepts: it begins with a letter."""
    name = slug(plan.title) or "plan"
    return name if name[0].isalpha() else f"plan-{name}"


def _tasks(plan: ExchangePlan) -> str:
    """Return numbered groups of tasks, none of them nested: OpenSpec counts only those."""
    lines: list[str] = []
    group: str | None = None
    number = part = 0
    for task in plan.tasks:
        name = task.group or "Implementation"
        if group is None or (not task.depth and name != group):
            number, part, group = number + 1, 0, name
            lines += [*([""] if lines else []), f"## {number}. {name}", ""]
        part += 1
        boxed = to_box(task._replace(text=task.text.removeprefix(read_prefix(task.text))))
        lines += task_lines(boxed._replace(text=f"{number}.{part} {boxed.text}", done_at=""))
    return "\n".join(lines) + "\n"
