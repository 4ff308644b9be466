"""Advice on what a plan lacks beside its tasks: text in its sections, an outcome, and at the end its place in the archive."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.plan import outline
from execplan.core.plan.placeholder_text import unfilled_sections
from execplan.core.plan.plan_recognition import lacks_outcome
from execplan.core.plan_store import hint_reader
from execplan.core.project.project import common_git_dir
from execplan.team.advice.advice import Advice, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def advise_new_plan(plan: ParsedPlan, name: str, *, is_copy: bool = False) -> Advice:
    """Return the advice for a new plan; `is_copy` is whether it has the text of a repository's template."""
    if is_copy:
        editor, next_command = f"execplan edit {name}", f"execplan next {name}"
        work = Work("replace what the template says", next_command, editor_command=editor)
        return Advice((editor, next_command), work)
    if sections := unfilled_sections(plan):
        return advise_filling(sections, name)
    if not plan.tasks:
        return Advice((format_add_command(plan, name),))
    if plan.unfinished_tasks:
        return Advice((f"execplan next {name}",))
    return Advice((hint_reader.outcome_command(plan, name) if lacks_outcome(plan) else f"execplan archive {name}",))


def format_add_command(plan: ParsedPlan, name: str) -> str:
    """Return the command that adds the first task of a plan; if a block that is never closed hides its end, that of lint."""
    if not all([block.is_closed for block in plan.blocks]):
        return f"execplan lint {name}"
    option = "" if plan.section(outline.PROGRESS) is not None else "--create "
    return f"execplan add 'First step' {option}-p {name}"


def advise_completion(project: Project, ref: PlanRef, name: str, plan: ParsedPlan) -> Advice:
    """Return the advice for a plan without open tasks: write the outcome, fill in sections, fix errors, then archive.

    If the plan has its own worktree, finishing it archives the plan. Comments can't be resolved in the archive.
    """
    needs_outcome = lacks_outcome(plan)
    filling = advise_filling(sections, name) if (sections := unfilled_sections(plan)) else Advice()
    if filling.work is not None and not needs_outcome:
        return filling
    if features.load(features.ARCHIVE_ERRORS)(plan):
        last = Advice((f"execplan lint {name}",))
    elif features.load(features.OPEN_COMMENTS)(project, ref, is_staged=False):
        last = Advice((f"execplan show {name} --comments", f"execplan archive {name}"), why="it has open comments")
    elif project.git is not None and os.path.isdir(f"{common_git_dir(project.git)}/worktrees"):
        last = features.load(features.FINISH_ADVICE)(project, ref, name)
    else:
        last = Advice((f"execplan archive {name}",))
    if not needs_outcome:
        return last
    outcome_command = hint_reader.outcome_command(plan, name)
    if filling.work is not None:
        work = Work(f"add an outcome and {filling.work.description}", outcome_command, lead="for example")
        return Advice((outcome_command, *filling.commands), work)
    return Advice((outcome_command, *last.commands))


def advise_filling(sections: Sequence[str], name: str) -> Advice:
    """Return the advice to fill a draft's sections: `set` for each of them, or the editor for all."""
    commands = list(
        dict.fromkeys([*[hint_reader.fill_command(section, name) for section in sections], f"execplan edit {name}"])
    )
    count = sections[0] if len(sections) == 1 else f"{len(sections)} sections"
    work = Work(f"fill in {count}", commands[0], lead="for example", editor_command=commands[-1])
    return Advice(tuple(commands), work)
