"""Check of every writer on one real plan, and of whether the result reads back as intended."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from corpus_page import CREATED
from corpus_probe import Probe, has_one_added

from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan import log_edits, outline, section_edits, task_edits, task_rewording
from execplan.core.plan.model import DONE, OPEN, ParsedPlan, Section, Task
from execplan.core.plan.plan_change import plan_content
from execplan.core.text.markdown_blocks import HEADING
from execplan.core.text.text_lines import Text

if TYPE_CHECKING:
    from execplan.core.plan.plan_change import ChangeBuilder

T = TypeVar("T")
MOMENT = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
DATE = "2026-01-02"
LONG_TEXT = (
    "Probe 7 of the corpus: - [ ] is no box here, ## no heading, ``` no fence, > no quote, --> no end, | no table "
    "and 1. no number, wherever the line may wrap"
)
WHY = "So that `a - b` stays as it is, - and so that # a long reason wraps where the plan wraps its own reasons, too"
AUTHOR = "Ann Example"
_NUMBER = re.compile(r"(?:[0-9]{1,5}\.[0-9]{1,5}\.?|T[0-9]{3,11}|#[0-9]{1,11}|[0-9]{1,11}[.)])(?: \[[^ ]*\])* ")


def mark_tasks(probe: Probe) -> None:
    """Complete and reopen every task, and check that the original bytes return where they should."""
    for task in _sample(probe.plan.tasks) if probe.anywhere else probe.plan.tasks:
        ticked = None if task.state == DONE else _mark(probe, task, "done")
        if task.state != OPEN:
            _mark(probe, task, "reopen")
        elif ticked is not None and task.timestamp is None and _is_restored(probe, task, ticked):
            _mark_back(probe, task, ticked)


def _is_restored(probe: Probe, task: Task, ticked: bytes) -> bool:
    """Return whether `reopen` writes what was there: not if a phase's status followed, or if no other status shows the word."""
    statuses = [other.status.text for other in probe.plan.tasks if other.status is not None and other.state == OPEN]
    if task.status is not None:
        return set(statuses) == {task.status.text} and len(statuses) > 1
    return sum(old != new for old, new in zip(probe.data.splitlines(), ticked.splitlines(), strict=True)) == 1


def _mark_back(probe: Probe, task: Task, ticked: bytes) -> None:
    """Reopen a task that was just completed, and check the bytes."""
    back = probe.write("reopen", lambda: task_edits.reopen_tasks([str(task.number)]), ticked)
    probe.report.edits["done, then reopen"] += 1
    if back is None or back[0] != probe.data:
        probe.fail(task.box_line, "done and then reopen does not give the same bytes")


def _mark(probe: Probe, task: Task, writer: str) -> bytes | None:
    """Complete or reopen a task and check the parsed result."""
    query = [str(task.number)]
    result = probe.write(
        writer, lambda: task_edits.complete_tasks(query, MOMENT) if writer == "done" else task_edits.reopen_tasks(query)
    )
    if result is None:
        return None
    mark = "x" if writer == "done" else " "
    marks = tuple((mark if candidate is task else candidate.mark, candidate.text) for candidate in probe.plan.tasks)
    probe.expect(writer, result[1], task.box_line, tasks=marks)
    stamp = result[1].tasks[task.number - 1].timestamp
    # without Progress, a plan gets timestamps only if it has some
    is_stamped = not probe.plan.has_tasks_elsewhere or any(other.timestamp is not None for other in probe.plan.tasks)
    if (stamp and stamp.date) != (DATE if writer == "done" and is_stamped else None):
        probe.fail(task.box_line, f"after {writer} the task's stamp is {stamp}")
    return result[0]


def add_tasks(probe: Probe) -> None:
    """Add a task at the end, after other tasks, and under each sub-heading of Progress."""
    plan = probe.plan
    _add(probe, "add")
    for number in sorted({1, (len(plan.tasks) + 1) // 2, len(plan.tasks)} if plan.tasks else ()):
        added_plan = _add(probe, "add --after", after=str(number))
        if added_plan is not None:
            position = number + sum(task.start < plan.tasks[number - 1].item_end for task in plan.tasks[number:])
            if not _is_added(added_plan.tasks[position]):
                probe.fail(plan.tasks[number - 1].start, "add --after put the task elsewhere")
    section = plan.section(outline.PROGRESS)
    headings = plan.blocks[section.first_block : section.block_end] if section else []
    if plan.has_tasks_elsewhere:
        headings = _sample([block for block in plan.blocks if block.text in {task.heading for task in plan.tasks}])
    for block in headings:
        if block.kind == HEADING and not block.depth:
            nested_plan = _add(probe, "add --under", under=block.text)
            if nested_plan is not None and next(filter(_is_added, nested_plan.tasks)).heading != block.text:
                probe.fail(block.start, "add --under put the task under another heading")


def _add(probe: Probe, writer: str, **options: str) -> ParsedPlan | None:
    """Add a task and check it, also with markdown-it-py."""
    result = probe.write(writer, lambda: task_edits.add_task(LONG_TEXT, MOMENT, **options))  # type: ignore[arg-type]  # after or under
    sections = probe.facts.sections
    if result is None and probe.report.refused["no-such-section", writer]:
        result = probe.write(writer + CREATED, lambda: task_edits.add_task(LONG_TEXT, MOMENT, create=True))
        sections = plan_content(result[1]).sections if result is not None else sections
    if result is None:
        return None
    new, plan = result
    added = next(filter(_is_added, plan.tasks), None)
    line, text = (added.start, added.text) if added is not None else (0, LONG_TEXT)
    number = text.removesuffix(LONG_TEXT)
    if number and any(task.text.startswith(number) for task in probe.plan.tasks):
        probe.fail(line, f"{writer} used the number of another task")
    probe.expect(writer, plan, line, tasks=plan_content(plan).tasks, sections=sections)
    if not has_one_added(probe.facts.tasks, plan_content(plan).tasks, (" ", text)):
        probe.fail(line, f"{writer} did not add one task")
    if probe.counted_tasks(new) != probe.read_tasks(plan):
        probe.fail(line, f"{writer} added something that markdown-it-py does not read as a task")
    return plan


def _is_added(task: Task) -> bool:
    """Return whether a task is the new one, with a number in front where the others have one."""
    return task.text == _number(task.text) + LONG_TEXT


def _number(text: str) -> str:
    """Return the number of a task with the marks after it, as `T002 [P] `, which edits of its text keep."""
    match = _NUMBER.match(text)
    return match[0] if match is not None else ""


def reword_tasks(probe: Probe) -> None:
    """Reword tasks, and split those that are not done."""
    old_tasks = probe.facts.tasks
    for task in _sample(probe.plan.tasks):
        result = probe.write("reword", partial(task_rewording.reword_task, str(task.number), LONG_TEXT))
        if result is not None:
            at = task.number - 1
            probe.expect(
                "reword",
                result[1],
                task.box_line,
                tasks=(*old_tasks[:at], (task.mark, _number(task.text) + LONG_TEXT), *old_tasks[at + 1 :]),
            )
    for task in _sample([candidate for candidate in probe.plan.tasks if candidate.state != DONE]):
        result = probe.write("split", partial(task_rewording.split_task, str(task.number), LONG_TEXT, WHY, MOMENT))
        if result is not None:
            at = task.number - 1
            number = _number(result[1].tasks[at + 1].text)
            if number and any(other.text.startswith(f"{number.split()[0]} ") for other in probe.plan.tasks):
                probe.fail(task.box_line, "split used the number of another task")
            halves = (("x", _number(task.text) + LONG_TEXT), (" ", number + WHY))
            probe.expect("split", result[1], task.box_line, tasks=(*old_tasks[:at], *halves, *old_tasks[at + 1 :]))
            if probe.counted_tasks(result[0]) != probe.read_tasks(result[1]):
                probe.fail(task.box_line, "split left something that markdown-it-py does not read as a task")


def _sample(parts: Sequence[T]) -> list[T]:
    """Return the first, the middle and the last task or section."""
    return [parts[at] for at in sorted({0, len(parts) // 2, len(parts) - 1})] if parts else []


def fill_bodies(probe: Probe) -> None:
    """Add a note with an excerpt, and set every section's body: to its own, which changes nothing, and to another."""

    def note(create: bool) -> ChangeBuilder:
        return section_edits.add_note([LONG_TEXT], ["$ make test", "```", "# 12 passed"], create=create)

    result = probe.write("note", lambda: note(False))
    if result is None and probe.report.refused["no-such-section", "note"]:
        result = probe.write("note" + CREATED, lambda: note(True))
    if result is not None:
        probe.expect("note", result[1], 0, sections=plan_content(result[1]).sections)
    for section in _sample(probe.plan.sections) if probe.anywhere else probe.plan.sections:
        _set(probe, section)


def _set(probe: Probe, section: Section) -> None:
    """Set a section's body to another text, and check that setting its own body changes nothing."""
    body = "\n".join(probe.plan.text.lines[section.body_start : section.content_end])
    lines = Text.from_str(re.sub(r"\A(\s*\n)+|(\n\s*)+\Z", "", body)).lines
    if not any(lines):
        return
    result = probe.write("set", partial(section_edits.set_section_body, section.title, [WHY, "", "- and an item"]))
    if result is not None:
        titles = [[candidate.title for candidate in plan.sections] for plan in (probe.plan, result[1])]
        if titles[0] != titles[1] or result[1].text.lines.count(WHY) != 1:
            probe.fail(section.start, "set changed other sections")
        if apply_change(probe.data, section_edits.set_section_body(section.title, lines))[0] != probe.data:
            probe.fail(section.start, "set with a section's own body changes the plan")


def fill_logs(probe: Probe) -> None:
    """Add a decision, with and without one that it supersedes, a discovery, an outcome and a revision note."""
    decided = (LONG_TEXT, WHY, DATE, AUTHOR, None)
    _log(
        probe,
        "decide",
        "decisions",
        lambda create: log_edits.add_decision(LONG_TEXT, WHY, AUTHOR, MOMENT, create=create),
        decided,
    )
    if probe.plan.decisions:
        old = probe.plan.decisions[-1]
        superseded = f"{old.text} ({old.date})" if old.date else old.text

        def overrule(create: bool) -> ChangeBuilder:
            return log_edits.add_decision(LONG_TEXT, WHY, AUTHOR, MOMENT, supersedes=old.text, create=create)

        _log(probe, "decide --supersedes", "decisions", overrule, (*decided[:4], superseded))
    _log(
        probe,
        "discover",
        "discoveries",
        lambda create: log_edits.add_discovery(LONG_TEXT, WHY, create=create),
        (LONG_TEXT, WHY),
    )
    _log(probe, "outcome", "outcomes", lambda create: log_edits.add_outcome(LONG_TEXT, create=create), LONG_TEXT)
    _log(probe, "revision note", "revisions", lambda create: log_edits.add_revision_note(LONG_TEXT, MOMENT), LONG_TEXT)


def _log(probe: Probe, writer: str, field: str, make: Callable[[bool], ChangeBuilder], new: object) -> None:
    """Add an entry, with its section if that is missing, and check it."""
    result = probe.write(writer, lambda: make(False))
    sections = probe.facts.sections
    if result is None and probe.report.refused["no-such-section", writer]:
        result = probe.write(writer + CREATED, lambda: make(True))
        if result is not None:
            sections = plan_content(result[1]).sections
            if not any(has_one_added(probe.facts.sections, sections, name) for name in outline.LIVING):
                probe.fail(0, f"{writer} --create did not add one section")
    elif result is not None and writer == "revision note" and not any(probe.facts.sections):
        sections = plan_content(result[1]).sections
    if result is None:
        return
    line = next((entry.start for entry in getattr(result[1], field) if entry.text == LONG_TEXT), 0)
    before, after = getattr(probe.facts, field), getattr(plan_content(result[1]), field)
    if not has_one_added(before, tuple(_to_the_day(entry) for entry in after), new):
        probe.fail(line, f"{writer} did not add what was meant")
    probe.expect(writer, result[1], line, **{field: after, "sections": sections})


def _to_the_day(entry: Any) -> Any:
    """Return an entry without the time of a new decision, which is written only if its neighbors have one."""
    if entry[0] != LONG_TEXT or len(entry) != 5:
        return entry
    return (*entry[:2], entry[2][:10], *entry[3:])
