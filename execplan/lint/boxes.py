"""EP2, the part about form: is a task written as one?"""

from __future__ import annotations

from execplan.lint.rule import SAFE, WARNING, RuleContext, RuleMatch, rule
from execplan.plan import outline
from execplan.plan.grammar import read_checkbox
from execplan.plan.model import OTHER
from execplan.record import NamedTuple
from execplan.text.blocks import ITEM, PARAGRAPH, QUOTE
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan, Task
    from execplan.text.blocks import Block

_BOX_SPELLINGS = {
    **dict.fromkeys(("", "todo", "to do", "open", "pending", "not started"), " "),
    **dict.fromkeys(("x", "done", "complete", "completed", "finished"), "x"),
}
"""What certainly stands for an open or a ticked box."""


class _FormatIssue(NamedTuple):
    """A task, or what was meant as one, that is not written as the format has it."""

    description: str
    line: int
    column: int
    width: int
    replacement: str | None
    """What to write in the place of these columns, or None when that is not certain."""


@rule("EP206", WARNING, fix=SAFE)
def nonstandard_task_format(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """A task is written in another form than `- [ ]` or `- [x]`.

    Tools and people look for these two. Other bullets and `[X]` are still understood; `[]`, `[done]` and a box without a
    space around it are text, so the task does not exist for anybody who counts. Any other mark, such as `[~]`, is neither
    open nor done; nobody but its author knows what it means, so it is never rewritten.

    Bad:
        ## Progress

        * [X] (2026-03-07 23:27Z) Read lines.
        - [done] (2026-03-08 08:10Z) Build the parser.
        - [] Write the tests.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [x] (2026-03-08 08:10Z) Build the parser.
        - [ ] Write the tests.
    Mended:
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [x] (2026-03-08 08:10Z) Build the parser.
        - [ ] Write the tests.
    """
    issues_by_description: dict[str, list[_FormatIssue]] = {}
    for task in plan.tasks:
        if task.mark not in " x" or task.item_block.mark in "*+":
            for issue in _task_issues(plan, task):
                issues_by_description.setdefault(issue.description, []).append(issue)
    for issue in _unrecognized_tasks(plan):
        issues_by_description.setdefault(issue.description, []).append(issue)
    for description, issues in issues_by_description.items():
        first_issue = issues[0]
        count = f" ({len(issues)} of them)" if len(issues) > 1 else ""
        edits = tuple([_replacement_edit(plan, issue, issue.replacement) for issue in issues if issue.replacement is not None])
        yield RuleMatch(description + count, first_issue.line, first_issue.column, first_issue.line + 1, first_issue.column + first_issue.width, edits)


def _task_issues(plan: Plan, task: Task) -> Iterator[_FormatIssue]:
    """What is odd about the box and the bullet of a task."""
    line = plan.text.lines[task.box_line]
    at = line.index(f"[{task.mark}]")
    if task.state == OTHER:
        yield _FormatIssue(f"`[{task.mark}]` is neither open nor done", task.box_line, at, 3, None)
    elif task.mark == "X":
        yield _FormatIssue("the box of a done task is `[x]`", task.box_line, at, 3, "[x]")
    if task.item_block.mark in "*+" and task.start == task.box_line:
        bullet = line.rindex(task.item_block.mark, 0, at)
        yield _FormatIssue("the bullet of a task is `-`", task.box_line, bullet, 1, "-")


def _unrecognized_tasks(plan: Plan) -> Iterator[_FormatIssue]:
    """What stands in Progress, is meant as a task, and is none."""
    section = plan.section(outline.PROGRESS)
    if section is None:
        return
    source = "\n".join(plan.text.lines[section.body_start : section.end])
    has_unspaced_bullet = "-[" in source
    if not has_unspaced_bullet and source.count(" [") == len(plan.tasks):
        return  # each bracket that may be a box is one
    task_starts = {task.start for task in plan.tasks}
    quote_end = -1
    for block in plan.blocks[section.first_block : section.block_end]:
        if block.kind == QUOTE:
            quote_end = max(quote_end, block.end)
        elif block.start < quote_end:
            continue
        elif block.kind == ITEM and block.text[:1] == "[" and block.start not in task_starts:
            yield from _box_issues(plan, block)
        elif block.kind == PARAGRAPH and has_unspaced_bullet:
            yield from _missing_space_issues(plan, block)


def _box_issues(plan: Plan, item: Block) -> Iterator[_FormatIssue]:
    """An item that begins with brackets which certainly stand for a box; `[x](…)` is a link."""
    close = item.text.find("]", 0, 20)
    box_text = item.text[1:close].strip().casefold() if close > 0 else "?"
    next_char = item.text[close + 1 : close + 2]
    if box_text in _BOX_SPELLINGS and next_char and (next_char in " `*_" or next_char.isalnum()):
        old, box = item.text[: close + 1], f"[{_BOX_SPELLINGS[box_text]}]"
        description = f"`{old}` is no box: `{box}` is" if old.lower() != box else "no space behind the box: this is no task"
        column = plan.text.lines[item.start].index(old)
        yield _FormatIssue(description, item.start, column, close + 1, box if next_char == " " else f"{box} ")


def _missing_space_issues(plan: Plan, paragraph: Block) -> Iterator[_FormatIssue]:
    """The lines of a paragraph that are items but for the space behind their bullet."""
    for at in range(paragraph.start, paragraph.end):
        line = plan.text.lines[at]
        bare = line.lstrip(" \t")
        box = read_checkbox(bare[1:].rstrip()) if bare[:2] == "-[" else None
        if box is not None and box.mark in " xX" and box.text:
            column = len(line) - len(bare)
            is_certain = at == paragraph.start or column in (0, 1, 2, 3, paragraph.column)  # else it may still be text
            yield _FormatIssue(
                "no space behind the bullet: this is no task",
                at,
                column,
                4,
                f"- [{box.mark.lower()}]" if is_certain else None,
            )


def _replacement_edit(plan: Plan, issue: _FormatIssue, replacement: str) -> Edit:
    line = plan.text.lines[issue.line]
    return Edit(issue.line, issue.line + 1, (line[: issue.column] + replacement + line[issue.column + issue.width :],))
