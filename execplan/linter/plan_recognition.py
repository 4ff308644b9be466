"""Recognition of plans: whether a file is a plan or another document in a plans directory."""

from __future__ import annotations

from execplan.linter.rule import NOTICE, Finding, RuleContext
from execplan.linter.rules.markdown_rules import wrapped_in_fence
from execplan.linter.rules.section_rules import find_misplaced_headings
from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan

NOT_A_PLAN = Finding("", NOTICE, 1, 1, 1, 1, "not a plan")
"""Returned instead of findings for a file that is not a plan and was not named explicitly."""
_MIN_SECTIONS = 3
"""Minimum number of format sections that make a file a plan if it has no living section, as for `init`."""
_FORMAT_NAMES = ("execplan", "exec plan")


def is_plan(plan: ParsedPlan, context: RuleContext) -> bool:
    """Return whether a file is meant as a plan.

    It is one if it has a living section (also at a wrong heading level), several sections of the format, or a plan's
    title or preface, or if the whole plan is wrapped in a code block.
    """
    names = {section.name for section in plan.sections} - {None}
    if not names.isdisjoint(outline.LIVING) or len(names) >= _MIN_SECTIONS or _declares_itself_plan(plan):
        return True
    if any([name in outline.LIVING for _, name in find_misplaced_headings(plan, context)]):
        return True
    return any([True for _ in wrapped_in_fence(plan, context)])


def _declares_itself_plan(plan: ParsedPlan) -> bool:
    """Return whether the title starts or ends with the format's name, or the preface says it is a living plan."""
    title = (plan.title or "").casefold().replace("-", " ").strip(" *_`()[]:.")
    if title.startswith(_FORMAT_NAMES) and not title.startswith(tuple([f"{name}s" for name in _FORMAT_NAMES])):
        return True
    if title.endswith(_FORMAT_NAMES):
        return True
    end = plan.sections[0].start if plan.sections else len(plan.text.lines)
    preface = " ".join(plan.text.lines[plan.title_line + 1 : end]).casefold()
    return "living document" in preface and any([name in preface for name in _FORMAT_NAMES])
