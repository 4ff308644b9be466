"""A plan as superpowers writes it: a goal, an approach, and numbered tasks with steps."""

from __future__ import annotations

from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.outline import INTERFACES, WORK
from execplan.core.plan.section_roles import APPROACH
from execplan.core.plan.section_roles import INTERFACES as INTERFACES_ROLE
from execplan.exchange.exchange_plan import (
    BEGUN,
    ExchangePlan,
    ExchangeTask,
    ExportedFiles,
    list_lines,
    to_box,
    without_boxes,
)
from execplan.exchange.plan_reading import find_losses, find_section_text


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the plan in that form; text that has no place in it comes in sections before the tasks."""
    own = parsed.text.titles
    leads = [
        ("Goal", plan.purpose),
        ("Architecture", find_section_text(plan, WORK, APPROACH, own)),
        ("Tech Stack", find_section_text(plan, INTERFACES, INTERFACES_ROLE, own)),
    ]
    lines = [f"# {plan.title}"]
    used = []
    for label, text in leads:
        paragraph = text.split("\n\n", 1)[0].strip()
        is_plain = paragraph[:1] not in ("", "-", "*", "+", "#", ">", "|", "`", "<", "~") and "\n" not in text.strip()
        used += [text] if is_plain else []
        lines += ["", f"**{label}:** {text.strip() if is_plain else 'see below.' if text else 'not stated.'}"]
    lines += ["", "---"]
    for section in plan.sections:
        if section.text not in used and section.text:
            lines += ["", *([f"## {section.title}", ""] if section.title else []), without_boxes(section.text)]
    for number, group in enumerate(_groups(plan), 1):
        lines += ["", f"### Task {number}: {group[0].group or plan.title}", "", *list_lines(group, with_groups=False)]
    return ExportedFiles({"": ("\n".join(lines) + "\n").encode()}, find_losses(plan, (BEGUN,)))


def _groups(plan: ExchangePlan) -> list[list[ExchangeTask]]:
    """Return the tasks of each heading, in order."""
    groups: list[list[ExchangeTask]] = []
    for task in plan.tasks:
        if not groups or (not task.depth and task.group != groups[-1][0].group):
            groups.append([])
        groups[-1].append(to_box(task))
    return groups
