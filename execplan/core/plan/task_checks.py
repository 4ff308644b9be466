"""The acceptance check of a task: a nested item "Check: `command`" below the task's text."""

from __future__ import annotations

from bisect import bisect_left

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.line_grammar import read_checkbox
from execplan.core.text.markdown_blocks import ITEM, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.text.markdown_blocks import Block

LABEL = "Check:"
_LABELS = (LABEL.lower(), "**check:**", "**check**:")
_LABEL_PART = "heck"
"""Letters that every spelling of the label contains, to skip plans without checks quickly."""


class TaskCheck(NamedTuple):
    """The check of a task as written; lines count from 0 and `end` is exclusive."""

    command: str
    """Command line; empty if there is a problem."""
    attributes: str
    """Attributes after the command, with their braces, such as `{timeout=5m}`; or empty."""
    start: int
    end: int
    problem: str = ""
    """Why the check can't be read, or empty."""


def has_checks(plan: ParsedPlan) -> bool:
    """Return quickly whether a task may have a check."""
    return any([_LABEL_PART in line for task in plan.tasks for line in plan.text.lines[task.end : task.item_end]])


def find_check(plan: ParsedPlan, task: Task) -> TaskCheck | None:
    """Return the check of a task, or None if it has none. A second one is a problem of the first."""
    lines = plan.text.lines
    if not any([_LABEL_PART in lines[index] for index in range(task.end, task.item_end)]):
        return None
    first = bisect_left(plan.blocks, task.end, key=lambda block: block.start)
    last = bisect_left(plan.blocks, task.item_end, first, key=lambda block: block.start)
    checks = [
        check
        for index in range(first, last)
        if plan.blocks[index].kind == ITEM
        and plan.blocks[index].depth == task.item_block.depth + 1
        and (check := _read_item(lines, plan.blocks, index)) is not None
    ]
    if len(checks) > 1:
        problem = "the task has more than one check; join the commands with &&"
        return checks[1]._replace(command="", problem=problem)
    return checks[0] if checks else None


def format_check(command: str) -> str:
    """Return the text of a check item for a command line, as `find_check` reads it."""
    marks = "`" * (_longest_backtick_run(command) + 1)
    space = " " if command.startswith("`") or command.endswith("`") else ""
    return f"{LABEL} {marks}{space}{command}{space}{marks}"


def _longest_backtick_run(text: str) -> int:
    longest = length = 0
    for char in text:
        length = length + 1 if char == "`" else 0
        longest = max(longest, length)
    return longest


def _read_item(lines: Sequence[str], blocks: Sequence[Block], index: int) -> TaskCheck | None:
    """Return the check that an item states, or None if it states none."""
    item = blocks[index]
    label = next((label for label in _LABELS if item.text.lower().startswith(label)), "")
    if not label or read_checkbox(item.text) is not None:
        return None
    paragraph = next((blocks[at] for at in range(index + 1, len(blocks)) if blocks[at].kind == PARAGRAPH), item)
    end = paragraph.end if paragraph.start == item.start else item.start + 1
    text = " ".join([item.text, *[line.strip() for line in lines[item.start + 1 : end]]])
    command, attributes, problem = _parse_command(text[len(label) :].strip())
    return TaskCheck(command, attributes, item.start, end, problem)


def _parse_command(text: str) -> tuple[str, str, str]:
    """Return the command and the attributes of a check's text, and why it can't be read, or an empty string."""
    if not (marks := text[: len(text) - len(text.lstrip("`"))]):
        return "", "", "write the command in backticks"
    close = _find_close(text, len(marks))
    if close < 0:
        return "", "", "the backticks around the command are never closed"
    command = text[len(marks) : close]
    if command.startswith(" ") and command.endswith(" "):
        command = command[1:-1]
    remainder = text[close + len(marks) :].strip().removesuffix(".").strip()
    if not command.strip():
        return "", "", "the command is empty"
    if remainder and not (remainder.startswith("{") and remainder.endswith("}")):
        return "", "", f"unexpected text after the command: {remainder!r}"
    return command.strip(), remainder, ""


def _find_close(text: str, length: int) -> int:
    """Return where a run of exactly `length` backticks closes a code span that such a run opens; -1 if none does."""
    index = length
    while (index := text.find("`", index)) >= 0:
        end = index
        while text[end : end + 1] == "`":
            end += 1
        if end - index == length:
            return index
        index = end
    return -1
