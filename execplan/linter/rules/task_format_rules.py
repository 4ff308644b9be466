"""EP2 rules about task format: tasks that are half done, and nonstandard bullets or check boxes."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_empty_text, read_checkbox
from execplan.core.text.markdown_blocks import ITEM, PARAGRAPH, QUOTE
from execplan.core.text.text_lines import Edit
from execplan.linter.rule import SAFE, UNSAFE, WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.text.markdown_blocks import Block


_MAX_FIXES = 100
"""Maximum number of findings with a computed fix; others are not shown, and the next round fixes them."""
_DONE_LABELS = ("completed so far:", "completed:", "complete:", "done so far:", "done:")
_REMAINING_LABELS = ("remaining work:", "remaining:", "still to do:", "still open:", "left:", "todo:")
_LABEL_BOUNDARIES = "(;.,–—"
"""Characters that may precede such a label, apart from a space."""


@rule("EP210", WARNING, fix=UNSAFE)
def half_done_task(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A task says which part of it is done and which part remains.

    One checkbox can't express both: the task counts as open or as done, and is neither. Split it into a done task
    and a remaining one: `execplan split`. If the task has no timestamp, the time of the done part is unknown, so
    there is no fix.

    Bad:
        ## Progress

        - [ ] (2026-03-07 23:27Z) Write the tests (completed: the reader; remaining: the writers).
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Write the tests: the reader.
        - [ ] Write the tests: the writers.
    Fixed:
        ## Progress

        - [x] (2026-03-07 23:27Z) Write the tests: the reader.
        - [ ] Write the tests: the writers.
    """
    finding_count = 0
    for task in plan.tasks:
        if ":" not in task.text:
            continue
        remaining_span = _find_label(task.text, _REMAINING_LABELS)
        if remaining_span is None:
            continue
        done_span = _find_label(task.text[: remaining_span[0]], _DONE_LABELS)
        if done_span is None and "(remaining" not in task.text[remaining_span[0] - 1 : remaining_span[1]].lower():
            continue
        remaining_text = task.text[remaining_span[1] :].strip(" .)")
        if is_empty_text(remaining_text) or remaining_text.casefold().startswith(("none", "nothing")):
            continue
        edits: tuple[Edit, ...] = ()
        finding_count += 1
        if (
            done_span is not None
            and task.timestamp is not None
            and task.timestamp.is_valid
            and finding_count <= _MAX_FIXES
        ):
            edits = _split_task(plan, task, done_span, remaining_span)
        message = f"task {task.number} is half done: split it in two"
        label = task.text[remaining_span[0] : remaining_span[1]]
        for at in range(task.box_line, task.end):
            column = plan.text.lines[at].find(label)
            if column >= 0:
                yield RuleMatch(message, at, column, at + 1, column + len(label), edits)
                break
        else:
            yield on_line(plan, task.box_line, message, edits)


def _find_label(text: str, labels: tuple[str, ...]) -> tuple[int, int] | None:
    """Return start and end of the first label in a text that follows a bracket or the end of a clause."""
    folded = text.lower()
    if len(folded) != len(text):
        return None  # a letter gets longer in lower case, so offsets would be wrong
    for label in labels:
        at = folded.find(label)
        if at > 1 and (
            folded[at - 1] in _LABEL_BOUNDARIES or (folded[at - 1] == " " and folded[at - 2] in _LABEL_BOUNDARIES)
        ):
            return at, at + len(label)
    return None


def _split_task(
    plan: ParsedPlan, task: Task, done_span: tuple[int, int], remaining_span: tuple[int, int]
) -> tuple[Edit, ...]:
    """Return the edit that splits a task in two: its subject with the done part, and with the remaining part."""
    from execplan.core.plan.task_rewording import format_split_tasks

    text = task.text
    subject = text[: done_span[0]].rstrip(" (;.,–—")
    done_text = text[done_span[1] : remaining_span[0]].strip(" ;.,–—")
    remaining_text = text[remaining_span[1] :].strip()
    if text[done_span[0] - 1] == "(":
        remaining_text = remaining_text.rstrip(".")
        if _closing_bracket(f"({done_text}{remaining_text}") != len(done_text) + len(remaining_text):
            return ()
        remaining_text = remaining_text[:-1].rstrip()
    remaining_text = remaining_text.rstrip(".")
    if is_empty_text(done_text) or task.timestamp is None:
        return ()
    stop = "." if text.endswith(".") else ""
    texts = (f"{subject}: {done_text}{stop}", f"{subject}: {remaining_text}{stop}")
    lines = format_split_tasks(plan, task, f"[x] {task.timestamp.text}{task.timestamp.separator or ' '}", "[ ] ", texts)
    return (Edit(task.start, task.end, tuple(lines)),)


def _closing_bracket(text: str) -> int:
    """Return the position of the bracket that closes the first one, or -1."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth:
            return at
    return -1


_BOX_SPELLINGS = {
    **dict.fromkeys(("", "todo", "to do", "open", "pending", "not started"), " "),
    **dict.fromkeys(("x", "done", "complete", "completed", "finished"), "x"),
}
"""Spellings that certainly mean an open or a checked box."""


class _FormatIssue(NamedTuple):
    """A formatting problem of a task, or of a line meant as a task."""

    description: str
    line: int
    column: int
    width: int
    replacement: str | None
    """Replacement for these columns, or None if it is uncertain."""


@rule("EP206", WARNING, fix=SAFE)
def nonstandard_task_format(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A task has a form other than `- [ ]` or `- [x]`.

    Tools and people look for these two. Other bullets and `[X]` are still recognized; `[]`, `[done]` and a checkbox
    without spaces around it are text, so the task isn't counted. `[-]` is a dropped task. Any other mark, such as
    `[~]`, keeps the task and so the plan unfinished; only its author knows what it means, so it is never rewritten.

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
    Fixed:
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [x] (2026-03-08 08:10Z) Build the parser.
        - [ ] Write the tests.
    """
    issues_by_description: dict[str, list[_FormatIssue]] = {}
    for task in plan.tasks:
        if task.status is None and (task.mark not in " x-" or task.item_block.mark in "*+"):
            for issue in _task_issues(plan, task):
                issues_by_description.setdefault(issue.description, []).append(issue)
    for issue in _unrecognized_tasks(plan):
        issues_by_description.setdefault(issue.description, []).append(issue)
    for description, issues in issues_by_description.items():
        first_issue = issues[0]
        count = f" ({len(issues)} times)" if len(issues) > 1 else ""
        edits = tuple(
            [_replacement_edit(plan, issue, issue.replacement) for issue in issues if issue.replacement is not None]
        )
        yield RuleMatch(
            description + count,
            first_issue.line,
            first_issue.column,
            first_issue.line + 1,
            first_issue.column + first_issue.width,
            edits,
        )


def hidden_task_lines(plan: ParsedPlan) -> set[int]:
    """Return the lines of open tasks that are not recognized, because their checkboxes are malformed."""
    lines = plan.text.lines
    return {
        issue.line
        for issue in _unrecognized_tasks(plan)
        if "[x]" not in f"{issue.replacement} {lines[issue.line].casefold()}"
    }


def _task_issues(plan: ParsedPlan, task: Task) -> Iterator[_FormatIssue]:
    """Yield the problems with the box and the bullet of a task."""
    line = plan.text.lines[task.box_line]
    at = line.index(f"[{task.mark}]")
    if task.mark not in " xX-":
        yield _FormatIssue(f"`[{task.mark}]` is neither open nor done", task.box_line, at, 3, None)
    elif task.mark == "X":
        yield _FormatIssue("the checkbox of a done task is `[x]`", task.box_line, at, 3, "[x]")
    if task.item_block.mark in "*+" and task.start == task.box_line:
        bullet = line.rindex(task.item_block.mark, 0, at)
        yield _FormatIssue("the bullet of a task is `-`", task.box_line, bullet, 1, "-")


def _unrecognized_tasks(plan: ParsedPlan) -> Iterator[_FormatIssue]:
    """Yield the lines in Progress that are meant as tasks but are not recognized."""
    section = plan.section(outline.PROGRESS)
    if section is None:
        return
    source = "\n".join(plan.text.lines[section.body_start : section.end])
    has_unspaced_bullet = "-[" in source
    if not has_unspaced_bullet and source.count(" [") == len(plan.tasks):
        return  # every bracket that may be a box is one
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


def _box_issues(plan: ParsedPlan, item: Block) -> Iterator[_FormatIssue]:
    """Yield the problem of an item that starts with a misspelled box; `[x](…)` is a link."""
    close = item.text.find("]", 0, 20)
    box_text = item.text[1:close].strip().casefold() if close > 0 else "?"
    next_char = item.text[close + 1 : close + 2]
    if box_text in _BOX_SPELLINGS and next_char and (next_char in " `*_" or next_char.isalnum()):
        old, box = item.text[: close + 1], f"[{_BOX_SPELLINGS[box_text]}]"
        if old.lower() != box:
            description = f"`{old}` is not a checkbox: use `{box}`"
        else:
            description = "no space after the checkbox, so this is not a task"
        column = plan.text.lines[item.start].index(old)
        yield _FormatIssue(description, item.start, column, close + 1, box if next_char == " " else f"{box} ")


def _missing_space_issues(plan: ParsedPlan, paragraph: Block) -> Iterator[_FormatIssue]:
    """Yield the lines of a paragraph that would be tasks with a space after their bullet."""
    for at in range(paragraph.start, paragraph.end):
        line = plan.text.lines[at]
        bare = line.lstrip(" \t")
        box = read_checkbox(bare[1:].rstrip()) if bare[:2] == "-[" else None
        if box is not None and box.mark in " xX" and box.text:
            column = len(line) - len(bare)
            is_certain = at == paragraph.start or column in (
                0,
                1,
                2,
                3,
                paragraph.column,
            )  # otherwise the line may be ordinary text
            yield _FormatIssue(
                "no space after the bullet, so this is not a task",
                at,
                column,
                4,
                f"- [{box.mark.lower()}]" if is_certain else None,
            )


def _replacement_edit(plan: ParsedPlan, issue: _FormatIssue, replacement: str) -> Edit:
    line = plan.text.lines[issue.line]
    return Edit(issue.line, issue.line + 1, (line[: issue.column] + replacement + line[issue.column + issue.width :],))
