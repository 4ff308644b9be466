"""What must hold for any bytes and any changes: the target of the fuzzer, and of ordinary tests with its seeds and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from execplan.core.plan.line_grammar import read_checkbox
from execplan.core.plan.model import OPEN
from execplan.core.plan.plan_change import plan_content
from execplan.core.plan.plan_lookup import find_task, task_ids
from execplan.core.plan.task_edits import find_tasks, reopen_tasks
from execplan.core.plan.task_reader import document_section
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.text.line_merge import merge_chunks
from execplan.core.text.text_lines import Text
from execplan.linter.runner import lint_bytes, lint_plan
from tests.fuzz import merge_target
from tests.fuzz.edit_script import LEVELS, Step, parse, rule_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import PlanChange


def examine(data: bytes) -> None:
    """Read, check, mend and change a plan as a script says, or merge what two of them made of it.

    Raises AssertionError, or whatever a defect raises.
    """
    if merge_target.SIDES in data:
        merge_target.examine(data)
        return
    original, steps = parse(data)
    try:
        plan = reader.read(original)
    except ExecplanError as error:
        check_refusal(error, (3,))
        assert [finding.code for finding in lint_bytes(original)] == ["EP001"]
        return
    assert plan.text.to_bytes() == original
    check_structure(plan)
    check_lint(plan)
    current = original
    for step in steps:
        current = _apply_step(step, original, current)
    if current != original:
        check_structure(reader.read(current))


def _apply_step(step: Step, original: bytes, before: bytes) -> bytes:
    """The bytes after a step, as before when it is refused."""
    try:
        after, change = apply_change(before, step.make(original))
    except ExecplanError as error:
        check_refusal(error, (1, 2, 3, 4))
        return before
    plan, new_plan = reader.read(before), reader.read(after)
    assert plan_content(new_plan) == change.expected_content, step
    assert change.may_change_structure or not new_plan.conflict_lines, step
    check_outside(plan.text, new_plan.text, change)
    if after != before:
        undo_change = rebase_text(new_plan, after, before, "undo", "", "")
        assert apply_change(after, lambda _: undo_change)[0] == before, (step, "undone, the bytes are not as they were")
    if step.name == "done":
        check_reopened(step, before, after, plan)
    if step.name == "edit":
        check_merged(original, before, step, after)
    if step.is_repeatable and step.name not in ("edit", "retarget"):
        assert apply_change(after, step.make(original))[0] == after, (step, "done again, it changes the plan again")
    return after


def check_refusal(error: ExecplanError, exits: tuple[int, ...]) -> None:
    """It says what is wrong, and what to do."""
    assert error.exit in exits, error.code
    assert error.message, error.code
    assert error.hint, error.code


def check_structure(plan: ParsedPlan) -> None:
    """Every record lies where it should, and ids and counts agree."""
    size = len(plan.text.lines)
    for block in plan.blocks:
        assert 0 <= block.start <= block.end <= size, block
    end = 0
    for section in plan.sections:
        marks = (end, section.start, section.body_start, section.content_end, section.notes_start, section.end, size)
        assert list(marks) == sorted(marks), section
        end = section.end
    progress = document_section(plan) if plan.has_tasks_elsewhere else plan.section(outline.PROGRESS)
    ids = task_ids(plan.tasks)
    assert len(set(ids)) == len(ids)
    start = 0
    for number, (name, task) in enumerate(zip(ids, plan.tasks, strict=True), 1):
        assert task.number == number
        assert progress is not None
        assert (
            max(start, progress.body_start) <= task.start <= task.box_line < task.end <= task.item_end <= progress.end
        ), task
        assert find_task(plan, name) == find_task(plan, str(number)) == (name, task)
        start = task.start
    for entries in (plan.decisions, plan.discoveries, plan.outcomes, plan.revisions):
        assert [entry.start for entry in entries] == sorted({entry.start for entry in entries})
        assert all([0 <= entry.start < entry.end <= size for entry in entries])
    counts = plan.counts()
    assert counts["open"] + counts["done"] + counts["other"] == counts["total"] == len(plan.tasks)


def check_lint(plan: ParsedPlan) -> None:
    """All rules come to an end, and what they find lies in the plan."""
    for finding in lint_plan(plan, rule_context(), LEVELS):
        assert 1 <= finding.line <= finding.end_line <= len(plan.text.lines), finding
        assert 1 <= finding.column <= finding.end_column, finding
        assert finding.message, finding


def check_outside(old: Text, new: Text, change: PlanChange) -> None:
    """No line is another but those of the edits; a line end only where a text had none, or a CR would join an LF."""
    at = to = 0
    for edit in sorted(change.edits, key=lambda plan_edit: plan_edit[:3]):
        to = _check_same_lines(old, new, range(at, edit.start), to) + len(edit.lines)
        at = edit.end
    assert _check_same_lines(old, new, range(at, len(old.lines)), to) == len(new.lines)
    assert old.bom == new.bom


def _check_same_lines(old: Text, new: Text, lines: range, to: int) -> int:
    """Where the lines end in the new text."""
    for at in lines:
        assert new.lines[to] == old.lines[at], (at, old.lines[at], new.lines[to])
        joined = new.ends[to] == "\r" and not new.lines[to] and to and new.ends[to - 1] == "\r"
        is_last = not old.ends[at] or to == len(new.lines) - 1
        assert new.ends[to] == old.ends[at] or joined or is_last, (at, old.ends[at], new.ends[to])
        to += 1
    return to


def check_reopened(step: Step, before: bytes, after: bytes, plan: ParsedPlan) -> None:
    """A task that had no time has its bytes again when it is reopened."""
    tasks = find_tasks(plan, [argument for argument in step.arguments if argument], [])
    for task in tasks:
        line = plan.text.lines[task.box_line]
        box = read_checkbox(line[line.index(f"[{task.mark}]") :])
        if task.state != OPEN or task.timestamp is not None or box is None or box.placeholder:
            return
    assert apply_change(after, reopen_tasks([str(task.number) for task in tasks]))[0] == before, (step, "not as before")


def check_merged(base: bytes, ours: bytes, step: Step, merged: bytes) -> None:
    """Two texts that grew out of a third lie side by side, and what either has added is in what came of them."""
    old, new = [text.encode("utf-8", "replace") for text in (*step.arguments, "", "")[:2]]
    theirs = base.replace(old, new) if old else base + new
    versions = [_lines_with_ends(version) for version in (base, ours, theirs)]
    chunks = merge_chunks(*versions)
    for side, side_lines in enumerate(versions):
        assert [line for chunk in chunks for line in chunk[side]] == side_lines
    merged_lines = set(Text.from_bytes(merged).lines)
    base_lines = set(Text.from_bytes(base).lines)
    for data in (ours, theirs):
        lost = set(Text.from_bytes(data).lines) - base_lines - merged_lines
        assert not lost, (step, lost)


def _lines_with_ends(data: bytes) -> Sequence[str]:
    text = Text.from_bytes(data)
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]


def read_all(data: bytes) -> None:
    """Read a plan and run all rules over it, or refuse it."""
    try:
        plan = reader.read(data)
    except ExecplanError:
        return
    lint_plan(plan, rule_context(), LEVELS)
