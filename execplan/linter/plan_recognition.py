"""Is a file a plan at all, or another document that lies where plans are kept?"""

from __future__ import annotations

from execplan.linter.rule import NOTICE, Finding, RuleContext
from execplan.linter.rules.markdown_rules import wrapped_in_fence
from execplan.linter.rules.section_rules import find_misplaced_headings
from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan

NOT_A_PLAN = Finding("", NOTICE, 1, 1, 1, 1, "not a plan")
"""In place of findings: the file is not a plan, and nobody named it."""
_MIN_SECTIONS = 3
"""Sections of the format, other than living ones, that make a plan of a file, as for `init`."""
_FORMAT_NAMES = ("execplan", "exec plan")


def is_plan(plan: ParsedPlan, context: RuleContext) -> bool:
    """Whether a file is meant as a plan: it has a living section, or the title of a plan, or most of one is damaged."""
    names = {section.name for section in plan.sections} - {None}
    if not names.isdisjoint(outline.LIVING) or len(names) >= _MIN_SECTIONS or _declares_itself_plan(plan):
        return True
    if any([name in outline.LIVING for _, name in find_misplaced_headings(plan, context)]):
        return True
    return any([True for _ in wrapped_in_fence(plan, context)])


def _declares_itself_plan(plan: ParsedPlan) -> bool:
    """Whether the title begins or ends with the name of the format, or the text below it says that it is a living plan."""
    title = (plan.title or "").casefold().replace("-", " ").strip(" *_`()[]:.")
    if title.startswith(_FORMAT_NAMES) and not title.startswith(tuple([f"{name}s" for name in _FORMAT_NAMES])):
        return True
    if title.endswith(_FORMAT_NAMES):
        return True
    end = plan.sections[0].start if plan.sections else len(plan.text.lines)
    preface = " ".join(plan.text.lines[plan.title_line + 1 : end]).casefold()
    return "living document" in preface and any([name in preface for name in _FORMAT_NAMES])
