"""EP2, the part about tasks that are done by half."""

from __future__ import annotations

from execplan.lint.rule import UNSAFE, WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.plan.grammar import is_empty_text
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan, Task

_MAX_FIXES = 100
"""Findings for which a fix is worked out: more are not shown, and the next round mends the rest."""
_DONE_LABELS = ("completed so far:", "completed:", "complete:", "done so far:", "done:")
_REMAINING_LABELS = ("remaining work:", "remaining:", "still to do:", "still open:", "left:", "todo:")
_LABEL_BOUNDARIES = "(;.,–—"
"""What stands before such a label, but for a space."""


@rule("EP210", WARNING, fix=UNSAFE)
def half_done_task(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """A task says what of it is done and what remains.

    One box can't say both: the task counts as open or as done, and is neither. Split it into a task that is done and one
    that remains: `execplan split`. Where the task has no stamp nobody knows when the one part was done, so there is no
    fix.

    Bad:
        ## Progress

        - [ ] (2026-03-07 23:27Z) Write the tests (completed: the reader; remaining: the writers).
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Write the tests: the reader.
        - [ ] Write the tests: the writers.
    Mended:
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
        if done_span is not None and task.timestamp is not None and task.timestamp.is_valid and finding_count <= _MAX_FIXES:
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
    """Where the first of the labels stands in the words and where it ends, behind a bracket or the end of a part."""
    folded = text.lower()
    if len(folded) != len(text):
        return None  # a letter that is longer in lower case: the places would be wrong
    for label in labels:
        at = folded.find(label)
        if at > 1 and (folded[at - 1] in _LABEL_BOUNDARIES or (folded[at - 1] == " " and folded[at - 2] in _LABEL_BOUNDARIES)):
            return at, at + len(label)
    return None


def _split_task(plan: Plan, task: Task, done_span: tuple[int, int], remaining_span: tuple[int, int]) -> tuple[Edit, ...]:
    """The task as two: what it is about, with what is done of it, and the same with what remains."""
    from execplan.plan.reword import format_split_tasks

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
    """Where the bracket is closed with which the words begin, or -1."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth:
            return at
    return -1
