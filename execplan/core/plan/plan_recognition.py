"""Recognition of plans: whether a markdown file in a plans directory is a plan or another document."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.text.markdown_blocks import FENCE, FRONT, HEADING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block

_MIN_SECTIONS = 3
"""Minimum number of format sections that make a file a plan if it has no living section."""
_PLAN_WORDS = ("plan", "roadmap", "计划", "方案", "計画", "계획", "план")
"""Last words of the titles of plans."""
_DESIGN_WORDS = ("design ", "design:", "adr ", "adr:", "adr-")
"""First words of the titles of designs, which have sections about validation, too."""
_DESIGN_ENDS = ("design", "设计", "設計", "설계")
"""Last words of the titles of designs."""
_FORMAT_NAMES = ("execplan", "exec plan")
NO_WORK = "no tasks, no sections of a plan"
"""Why most documents are no plans."""


def is_plan(plan: ParsedPlan) -> bool:
    """Return whether a file in a plans directory is a plan: it has tasks, or a section that only plans have.

    Other files are documents, such as designs and notes.
    """
    title = outline.title_key(plan.title or "")
    if plan.conflict_lines:  # what a merge leaves may be any part of a plan
        return True
    if plan.tasks or follows_format(plan):
        return True
    from execplan.core.plan.front_matter import parse_front_matter

    if "status" in parse_front_matter(plan.text.lines).fields:
        return True
    return not _is_design(title) and (title.endswith(_PLAN_WORDS) or _has_plan_role(plan) or _has_status(plan))


def document_reason(plan: ParsedPlan) -> str:
    """Return why a file that is no plan is none."""
    return "design without tasks" if _is_design(outline.title_key(plan.title or "")) else NO_WORK


def _is_design(title: str) -> bool:
    """Return whether a title, in the form of `outline.title_key`, is that of a design."""
    return title.startswith(_DESIGN_WORDS) or title.partition("（")[0].endswith(_DESIGN_ENDS)


def follows_format(plan: ParsedPlan) -> bool:
    """Return whether a plan is meant to have the twelve sections.

    It is if it has a living section (also at a wrong heading level), several sections of the format, a plan's title or
    preface, or if it is wrapped in a code block. If its tasks or a section about the work are elsewhere than in Progress, its
    logs don't count, because a plan in another form gets one with its first entry, and with such tasks its title doesn't.
    """
    names = {section.name for section in plan.sections if outline.canonical_name(section.title) is not None} - {None}
    if plan.has_tasks_elsewhere or _has_work_elsewhere(plan):
        names -= {*outline.LIVING}
        has_log = any([outline.canonical_name(block.text) == outline.PROGRESS for block in _headings(plan)])
    else:
        has_log = not names.isdisjoint(outline.LIVING) or any(
            [_standard_name(block.text) in outline.LIVING for block in _headings(plan)]
        )
        has_log = has_log or wrapping_fence(plan) >= 0
    return (
        has_log
        or len(names) >= _MIN_SECTIONS
        or _has_preface(plan)
        or (not plan.has_tasks_elsewhere and _has_title(plan))
    )


def _has_work_elsewhere(plan: ParsedPlan) -> bool:
    """Return whether a plan without tasks has a section about the work that is none of the twelve."""
    from execplan.core.plan.section_roles import TASKS, find_role  # most plans have tasks

    titles = [block.text for block in _headings(plan) if not plan.tasks]
    return any([not _standard_name(title) and find_role(title, plan.text.titles) == TASKS for title in titles])


def lacks_outcome(plan: ParsedPlan) -> bool:
    """Return whether a plan without an outcome needs one to be finished: a plan in another form does not."""
    return not plan.outcomes and follows_format(plan)


def wrapping_fence(plan: ParsedPlan) -> int:
    """Return the line of the code block that contains the whole plan, or -1."""
    outer = [block for block in plan.blocks if not block.depth and block.kind != FRONT]
    if outer and outer[0].kind == FENCE and plan.title is None and not plan.sections:
        inside = plan.text.lines[outer[0].start + 1 : outer[0].end]
        if any([line.startswith(("# ", "## ")) for line in inside]):
            return outer[0].start
    return -1


def _standard_name(title: str) -> str | None:
    """Return the name of the section that has exactly this title."""
    name = outline.canonical_name(title)
    return name if name is not None and outline.is_canonical_title(title, name) else None


def _has_plan_role(plan: ParsedPlan) -> bool:
    """Return whether a section is about the work, its validation, its status or the next step."""
    from execplan.core.plan.section_roles import PLAN_ROLES, find_role

    return any([find_role(heading.text, plan.text.titles) in PLAN_ROLES for heading in _headings(plan)])


def _has_status(plan: ParsedPlan) -> bool:
    """Return whether the text says how far the work is."""
    from execplan.core.plan.stated_status import find_statuses

    return next(find_statuses(plan), None) is not None


def _headings(plan: ParsedPlan) -> list[Block]:
    """Return the headings other than the title."""
    return [
        block for block in plan.blocks if block.kind == HEADING and not block.depth and block.start != plan.title_line
    ]


def _has_title(plan: ParsedPlan) -> bool:
    """Return whether the title starts or ends with the format's name."""
    title = (plan.title or "").casefold().replace("-", " ").strip(" *_`()[]:.")
    if title.startswith(_FORMAT_NAMES) and not title.startswith(tuple([f"{name}s" for name in _FORMAT_NAMES])):
        return True
    return title.endswith(_FORMAT_NAMES)


def _has_preface(plan: ParsedPlan) -> bool:
    """Return whether the text above the first section says that it is a living plan."""
    end = plan.sections[0].start if plan.sections else len(plan.text.lines)
    preface = " ".join(plan.text.lines[plan.title_line + 1 : end]).casefold()
    return "living document" in preface and any([name in preface for name in _FORMAT_NAMES])
