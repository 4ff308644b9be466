"""Plans that are only a copy of the repository's own template, whose text no mark tells from the author's."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan import reader
from execplan.core.plan.front_matter import parse_front_matter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.core.plan.model import ParsedPlan

_templates: dict[tuple[str, int], tuple[frozenset[str], frozenset[str]]] = {}
"""The lines and the texts of the tasks of each template that this process has read, by path and time of change."""


def mark_copied_text(plan: ParsedPlan, path: str, titles: Mapping[str, str]) -> None:
    """Add the text of a plan's sections to its placeholder lines, if nothing in them differs from the template at a path.

    The title, checked tasks and what was added to living sections don't count. A plan with one line or task of its own
    is left as it is, because parts of a template may stay.
    """
    template = _read_template(path, titles)
    if template is None or not plan.tasks:
        return
    template_lines, template_tasks = template
    if not template_tasks.issuperset([task.text for task in plan.tasks]):
        return
    own_lines = list(_text_lines(plan))
    if all([plan.text.lines[at].strip() in template_lines for at in own_lines]):
        first = plan.sections[0].body_start if plan.sections else len(plan.text.lines)
        copied = {at for at in own_lines if at >= first and not plan.text.lines[at].startswith("#")}
        plan.placeholder_lines[:] = sorted(copied.union(plan.placeholder_lines))


def _read_template(path: str, titles: Mapping[str, str]) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the lines of a template and the texts of its tasks; None if it can't be read."""
    try:
        key = path, os.stat(path).st_mtime_ns
        if key not in _templates:
            plan = reader.read(file_access.read(path, reader.MAX_BYTES)[0], titles)
            lines = frozenset([line.strip() for line in plan.text.lines])
            _templates[key] = lines, frozenset([task.text for task in plan.tasks])
    except (OSError, ExecplanError):
        return None
    return _templates[key]


def _text_lines(plan: ParsedPlan) -> Iterator[int]:
    """Yield the lines with text that an author writes: not the front matter, the title, tasks or living sections."""
    lines = plan.text.lines
    passed_over = {plan.title_line, *range(parse_front_matter(lines).end)}
    for task in (*plan.tasks, *[task for _, task in plan.checklists]):
        passed_over.update(range(task.start, task.end))
    for section in plan.sections:
        if section.is_living:
            passed_over.update(range(section.start, section.end))
    yield from [at for at, line in enumerate(lines) if at not in passed_over and line.strip()]
