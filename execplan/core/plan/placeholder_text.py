"""Detection of placeholder text: template lines that the author is expected to replace."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.model import COMPLETE
from execplan.core.plan.placeholder_data import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan

PLACEHOLDER_LINES = frozenset(DATA["lines"])
"""Placeholder lines of our templates, with white space collapsed."""
_LINE_STARTS = frozenset([line[:4] for line in PLACEHOLDER_LINES if not line.endswith("…")])
"""First characters of whole placeholder lines."""

PLACEHOLDER_MARK = "<!-- guidance -->"
"""Marker at the end of a placeholder line in a repository's own template, which can't be recognized otherwise."""
_LINE_ENDS = frozenset(("…", PLACEHOLDER_MARK[-1]))
"""Last characters of placeholder labels and of marked lines."""


def is_placeholder_text(line: str) -> bool:
    """Return whether a line is placeholder text from a template, with white space folded."""
    normalized = " ".join(line.split())
    return normalized in PLACEHOLDER_LINES or normalized.endswith(f" {PLACEHOLDER_MARK}")


def find_placeholder_lines(lines: Sequence[str]) -> list[int]:
    """Return the indexes of placeholder lines; a check of the first and last characters skips most other lines."""
    bare_lines = [line.strip() for line in lines]
    return [
        index
        for index, line in enumerate(bare_lines)
        if (line[:4] in _LINE_STARTS or line[-1:] in _LINE_ENDS) and is_placeholder_text(line)
    ]


def find_unfilled(plan: ParsedPlan) -> list[tuple[str, list[int]]]:
    """Return the names of the sections that still contain a template's placeholder text, each with these lines.

    The text above the first section counts as one. A living section gets its entries during the work. Without any it is empty, and with some it counts once all tasks
    are done; but a task of the template is one to replace before the work.
    """
    task_lines = {task.box_line for task in plan.tasks}
    is_complete = plan.state() == COMPLETE
    first_section = plan.sections[0].start if plan.sections else len(plan.text.lines)
    above = [at for at in plan.placeholder_lines if at < first_section and at != plan.title_line]
    sections = [(outline.INTRODUCTION, above)] if above else []
    for section in plan.sections:
        if not (lines := [at for at in plan.placeholder_lines if section.start <= at < section.end]):
            continue
        content_lines = [at for at in range(section.body_start, section.content_end) if plan.text.lines[at].strip()]
        is_started = is_complete and any([at not in lines for at in content_lines])
        if not section.is_living or is_started or not task_lines.isdisjoint(lines):
            sections.append((section.name or section.title, lines))
    return sections


def unfilled_sections(plan: ParsedPlan) -> list[str]:
    """Return the names of the sections that still contain a template's placeholder text."""
    return [name for name, _ in find_unfilled(plan)]
