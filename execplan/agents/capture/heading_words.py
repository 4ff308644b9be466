"""What the headings of native plans say about their content, in the languages that agents often write."""

from __future__ import annotations

import re

from execplan.core.plan import outline, section_roles

TASKS = "tasks"
"""Label of headings above a list of tasks, which belongs to Progress if it has checkboxes."""
MAX_WORDS = 6
"""Maximum number of words of a heading that is taken as a label: a longer one names a piece of work."""

_SECTIONS = {
    section_roles.VALIDATION: outline.VALIDATION,
    section_roles.RECOVERY: outline.RECOVERY,
    section_roles.INTERFACES: outline.INTERFACES,
    section_roles.COMMANDS: outline.STEPS,
    section_roles.PURPOSE: outline.PURPOSE,
    section_roles.OUTCOMES: outline.PURPOSE,  # of work that has not started
    section_roles.TASKS: TASKS,
    section_roles.APPROACH: outline.WORK,
}
"""Sections by the role of a heading; all other roles belong to the context."""
_PRECEDENCE = (
    (("implement", "implementation"), ("plan", "step", "steps", "approach", "strategy"), outline.WORK),
    (("test", "testing", "verification"), ("plan", "strategy", "steps"), outline.VALIDATION),
)
"""Pairs of words that decide together."""
_MAX_NUMBER_LENGTH = 40
_PART_WORDS = "|".join((*section_roles.STEP_WORDS, "part"))
_NUMBERED = re.compile(
    rf"^[\W_]*(?:(?:{_PART_WORDS}|pr|第)\W*\d+"
    r"|\d+(?:\.\d+)*\s*[.):\-–—]|\d+(?:\.\d+)+\s|[a-z]\))",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"^[\W_]*(?:{_PART_WORDS})?\W{{0,3}}\d+(?:\.\d+)*\W+",
    re.IGNORECASE,
)


def find_label(heading: str) -> str:
    """Return the section that a heading stands for, or `TASKS`; empty if it says nothing about that."""
    words = section_roles.title_words(heading)
    if not words or len(words) > MAX_WORDS or is_numbered(heading):
        return ""
    for first_words, second_words, section in _PRECEDENCE:
        if set(first_words).intersection(words) and set(second_words).intersection(words):
            return section
    role = section_roles.guess_role(heading)
    return _SECTIONS.get(role, outline.CONTEXT) if role is not None else ""


def is_numbered(heading: str) -> bool:
    """Return whether a heading has a number, such as `Step 2: Write the reader`, `1. Read` or `Phase 3`."""
    return _NUMBERED.match(heading[:_MAX_NUMBER_LENGTH]) is not None


def without_number(heading: str) -> str:
    """Return a heading without the number at its start, if anything remains."""
    if match := _NUMBER.match(heading[:_MAX_NUMBER_LENGTH]):
        return heading[match.end() :].strip() or heading
    return heading
