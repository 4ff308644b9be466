"""A revised native plan as a change of the ExecPlan that was made from the previous one."""

from __future__ import annotations

from collections.abc import Sequence

from execplan.agents.capture.native_plan import NativePlan, convert
from execplan.agents.capture.plan_assembly import body_edit, fill_template, section_lines
from execplan.agents.capture.plan_tasks import NativeTask, format_tasks, task_line_text
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from execplan.core.plan.model import OPEN, ParsedPlan, Section
from execplan.core.plan.plan_change import (
    ChangeBuilder,
    PlanChange,
    ensure_blocks_closed,
    ensure_unique_section,
    has_no_content,
    plan_content,
)
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.text.line_merge import merge_chunks
from execplan.core.text.markdown_blocks import HEADING
from execplan.core.text.text_lines import Edit, apply_edits, is_blank

_PROSE_SECTIONS = tuple([name for name in outline.NAMES if name not in (*outline.LIVING, outline.ARTIFACTS)])
_SKELETON = "# Plan\n\n" + "\n".join([f"## {name}\n\n" for name in outline.NAMES])
_MIN_SHARED_WORDS = 0.6
"""Share of the words of the shorter plan from which another plan of the same session is taken for its revision.

Of 835 pairs of different plans in the same repository (purpose and work of real plans), half share 0.29 of their longer
words, 1 in 100 shares 0.54 or more, and 1 in 1,000 shares 0.66 or more.
"""
_MIN_WORD_LENGTH = 4


def is_revision(previous: str, new: str) -> bool:
    """Return whether a native plan revises another one: they have the same title, or share many words."""
    if normalize_text(convert(previous).title) == normalize_text(convert(new).title):
        return True
    words, other_words = _long_words(previous), _long_words(new)
    return len(words & other_words) >= _MIN_SHARED_WORDS * max(1, min(len(words), len(other_words)))


def _long_words(text: str) -> set[str]:
    words = "".join([char if char.isalnum() else " " for char in text.casefold()]).split()
    return {word for word in words if len(word) >= _MIN_WORD_LENGTH or not word.isascii()}


def revise_plan(previous: NativePlan | None, new: NativePlan, program: str) -> ChangeBuilder:
    """Build a change that updates a plan to a revised native plan.

    Tasks that are done, tasks that were added to the plan, and all entries of its logs stay. A section that was edited
    since is merged; where both changed the same lines, the revised ones count. `previous` is None if it is unknown.
    """
    old_bodies, new_bodies = _bodies(previous), _bodies(new)

    def build_change(plan: ParsedPlan) -> PlanChange:
        ensure_blocks_closed(plan, len(plan.text.lines))
        for name in outline.NAMES:
            ensure_unique_section([section for section in plan.sections if section.name == name], name)
        edits = [edit for edit in (_title_edit(plan, new.title), _progress_edit(plan, previous, new)) if edit]
        messages = []
        for section in plan.sections:
            section_name = section.name
            if section_name is None or section_name not in _PROSE_SECTIONS or section_name not in new_bodies:
                continue
            lines, is_replaced = _merge_body(
                section_lines(plan, section_name), old_bodies.get(section_name, []), new_bodies[section_name]
            )
            if lines != section_lines(plan, section_name):
                edits.append(body_edit(plan, section, lines))
                messages.append(f"revised: {section.title}" + (", also where it was edited" if is_replaced else ""))
        return _checked_change(plan, tuple(edits), f"revised in {program}", tuple(messages))

    return build_change


def _bodies(native: NativePlan | None) -> dict[str, list[str]]:
    """Return the lines of each section as they are in a plan that is made from a native one."""
    if native is None:
        return {}
    plan = reader.parse(fill_template(_SKELETON, native.sections))
    return {name: lines for name in outline.NAMES if (lines := section_lines(plan, name))}


def _merge_body(current: list[str], old: list[str], new: list[str]) -> tuple[list[str], bool]:
    """Return the new lines of a section, and whether a change that someone made to the current ones is replaced."""
    if current == old or all([is_blank(line) or has_no_content(line) for line in current]):
        return new, False
    lines: list[str] = []
    is_replaced = False
    for chunk in merge_chunks(old, current, new):
        is_replaced = is_replaced or chunk.merged is None
        lines += chunk.theirs if chunk.merged is None else chunk.merged
    return lines, is_replaced


def _title_edit(plan: ParsedPlan, title: str) -> Edit | None:
    """Return the edit for a new title; None if the title is the same or is not a usual heading."""
    line = plan.text.lines[plan.title_line] if plan.title_line >= 0 else ""
    if not line.startswith("# ") or plan.title == title:
        return None
    return Edit(plan.title_line, plan.title_line + 1, (f"# {title}",))


def _progress_edit(plan: ParsedPlan, previous: NativePlan | None, new: NativePlan) -> Edit | None:
    """Return the edit of Progress; None if the revised plan has no tasks, or the section is missing."""
    section = plan.section(outline.PROGRESS)
    if section is None or not new.tasks:
        return None
    current = section_lines(plan, outline.PROGRESS)
    lines = _progress_lines(plan, section, previous.tasks if previous is not None else (), new.tasks)
    return body_edit(plan, section, lines) if lines != current else None


def _progress_lines(
    plan: ParsedPlan, section: Section, previous: Sequence[NativeTask], new: Sequence[NativeTask]
) -> list[str]:
    """Return the lines of Progress: done tasks that are no longer planned, the new tasks, and what was added by hand."""
    plan_lines = plan.text.lines
    own_lines: dict[str, list[str]] = {}
    kept_first: list[str] = []
    kept_last: list[str] = []
    used_lines: set[int] = set()
    new_keys = {_task_key(task.text) for task in new}
    planned_before = {_task_key(task.text) for task in previous}
    for index, task in enumerate(plan.tasks):
        following = plan.tasks[index + 1].start if index + 1 < len(plan.tasks) else task.item_end
        end = min(task.item_end, max(following, task.end))
        used_lines.update(range(task.start, end))
        lines = _dedent(plan_lines[task.start : end])
        key = normalize_text(task.text)
        if key in new_keys and key not in own_lines:
            own_lines[key] = lines
        elif task.state != OPEN or key in own_lines:
            kept_first += lines
        elif key not in planned_before and task.box_line not in plan.placeholder_lines:
            kept_last += lines
    headings = {block.start for block in plan.blocks if block.kind == HEADING}
    for index in range(section.body_start, section.content_end):
        line = plan_lines[index]
        if index not in used_lines and index not in headings and not is_blank(line) and not has_no_content(line):
            kept_last.append(line)
    new_lines: list[str] = []
    for line in format_tasks(new):
        content = line.lstrip(" ")
        own = own_lines.get(normalize_text(content[6:])) if content.startswith("- [") else None
        if own and content[3] != " " and own[0].startswith("- [ ]"):
            own = None  # it was done in the meantime, as the revised plan says
        indent = line[: len(line) - len(content)]
        if own:
            new_lines += [indent + own_line if own_line else "" for own_line in own]
        else:
            new_lines.append(line)
    separator = [""] if kept_first and new_lines[:1] and new_lines[0].startswith("#") else []
    return [*kept_first, *separator, *new_lines, *kept_last]


def _task_key(text: str) -> str:
    return normalize_text(task_line_text(text))


def _dedent(lines: list[str]) -> list[str]:
    """Return the lines of an item without its indentation and final blank lines."""
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    dedented = [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
    while is_blank(dedented[-1]):
        dedented.pop()
    return dedented


def _checked_change(plan: ParsedPlan, edits: tuple[Edit, ...], summary: str, messages: tuple[str, ...]) -> PlanChange:
    """Return the change, after checking that it keeps the sections and the entries of the logs; raises ExecplanError."""
    before = plan_content(plan)
    after = plan_content(reader.read_text(apply_edits(plan.text, list(edits))))
    kept_fields = ("sections", "decisions", "discoveries", "outcomes", "revisions")
    done = [task for task in before.tasks if task[0] != " "]
    if any([getattr(before, name) != getattr(after, name) for name in kept_fields]) or not set(done) <= set(
        after.tasks
    ):
        raise ExecplanError(
            "would-break",
            "the revised plan would change the structure of the plan",
            hint="import it as another plan: execplan new --from FILE",
        )
    return PlanChange(edits, after, summary, messages)
