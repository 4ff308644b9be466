"""The text of a new plan: words put into a template, read back, and compared."""

from __future__ import annotations

from execplan.clock import now
from execplan.errors import INPUT, ExecplanError
from execplan.plan import outline, reader
from execplan.plan.grammar import is_note, task_text
from execplan.plan.shape import escape, heading
from execplan.repo.author import author
from execplan.repo.drafting import templates
from execplan.text.lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.model import Plan
    from execplan.repo.drafting.render import Words
    from execplan.repo.home import Project

_PLACES = {
    "title": "begin the plan with `# {{ title }}`",
    "tasks": "write `- [ ] {{ task }}` in a loop over tasks, under `## Progress`; or leave --task out",
    "purpose": "write {{ purpose }} where it belongs; or leave --purpose out",
}
"""Where a template takes words."""


def draft(
    home: Project, template: str, name: str, title: str, purpose: str, tasks: Sequence[str]
) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a new plan with the id `name`, and warnings; raises ExecplanError unless it says all the words."""
    from execplan.repo.drafting.render import Words, render

    about = f"- {purpose}" if is_note(purpose) else escape(purpose) if purpose else ""
    who = author(home) if templates.has_own(home) else ""  # ours name nobody, and to ask git takes time
    folder = home.display_path(home.artifacts_dir(name))
    words = Words(heading(title), about, tuple(tasks), f"{now():%Y-%m-%d}", name, folder, who, template)
    made = render(home, template, words)
    data = made.text.encode("utf-8")
    if len(data) > reader.MAX_BYTES:
        raise reader.too_large(len(data))
    plan = reader.read_text(Text.from_str(made.text))
    lost = _lost(plan, words)
    if made.own:
        if lost:
            why = f"{made.path}:1: what comes of it lacks the {lost} given"
            raise ExecplanError("broken-template", why, exit=INPUT, hint=_PLACES[lost], line=1)
        return data, _faults(made.path, plan)
    more = words.tasks and len(plan.tasks) > len(words.tasks)
    if lost or more or plan.title != words.title or len(plan.sections) != len(outline.NAMES):
        raise ExecplanError(
            "would-break", "these words would change the skeleton", exit=INPUT, hint="say it in other words"
        )
    return data, ()


def _lost(plan: Plan, words: Words) -> str:
    """Which of the words are not in the plan."""
    if words.title not in (plan.title or ""):
        return "title"
    there = iter([task.text for task in plan.tasks])
    if not all([task_text(each) in there for each in words.tasks]):
        return "tasks"
    return "" if words.purpose in plan.text.to_str() else "purpose"


def _faults(path: str, plan: Plan) -> tuple[str, ...]:
    """What lint finds wrong with a plan from a template of the repository, apart from what a draft may have."""
    from execplan.lint.runner import ERROR, RuleContext, lint_plan

    found = [each for each in lint_plan(plan, RuleContext(allows_draft=True)) if each.level == ERROR]
    return tuple([f"from {path}: {each.code} in line {each.line}: {each.message}" for each in found])
