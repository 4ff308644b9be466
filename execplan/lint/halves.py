"""EP2, the part about tasks that are done by half."""

from __future__ import annotations

from execplan.lint.rule import UNSAFE, WARNING, Given, Place, on_line, rule
from execplan.plan.grammar import is_nothing
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan, Task

_SHOWN = 100
"""Findings for which a fix is worked out: more are not shown, and the next round mends the rest."""
_DID = ("completed so far:", "completed:", "complete:", "done so far:", "done:")
_LEFT = ("remaining work:", "remaining:", "still to do:", "still open:", "left:", "todo:")
_PARTS = "(;.,–—"
"""What stands before such a label, but for a space."""


@rule("EP210", WARNING, fix=UNSAFE)
def half_done(plan: Plan, given: Given) -> Iterator[Place]:
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
    found = 0
    for task in plan.tasks:
        if ":" not in task.text:
            continue
        left = _label(task.text, _LEFT)
        if left is None:
            continue
        did = _label(task.text[: left[0]], _DID)
        if did is None and "(remaining" not in task.text[left[0] - 1 : left[1]].lower():
            continue
        remains = task.text[left[1] :].strip(" .)")
        if is_nothing(remains) or remains.casefold().startswith(("none", "nothing")):
            continue
        edits: tuple[Edit, ...] = ()
        found += 1
        if did is not None and task.stamp is not None and task.stamp.possible and found <= _SHOWN:
            edits = _parted(plan, task, did, left)
        message = f"task {task.number} is half done: split it in two"
        label = task.text[left[0] : left[1]]
        for at in range(task.box, task.end):
            column = plan.text.lines[at].find(label)
            if column >= 0:
                yield Place(message, at, column, at + 1, column + len(label), edits)
                break
        else:
            yield on_line(plan, task.box, message, edits)


def _label(words: str, labels: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the first of the labels stands in the words and where it ends, behind a bracket or the end of a part."""
    folded = words.lower()
    if len(folded) != len(words):
        return None  # a letter that is longer in lower case: the places would be wrong
    for label in labels:
        at = folded.find(label)
        if at > 1 and (folded[at - 1] in _PARTS or (folded[at - 1] == " " and folded[at - 2] in _PARTS)):
            return at, at + len(label)
    return None


def _parted(plan: Plan, task: Task, did: tuple[int, int], left: tuple[int, int]) -> tuple[Edit, ...]:
    """The task as two: what it is about, with what is done of it, and the same with what remains."""
    from execplan.plan.reword import split_lines

    text = task.text
    about = text[: did[0]].rstrip(" (;.,–—")
    done = text[did[1] : left[0]].strip(" ;.,–—")
    remains = text[left[1] :].strip()
    if text[did[0] - 1] == "(":
        remains = remains.rstrip(".")
        if _closes(f"({done}{remains}") != len(done) + len(remains):
            return ()
        remains = remains[:-1].rstrip()
    remains = remains.rstrip(".")
    if is_nothing(done) or task.stamp is None:
        return ()
    stop = "." if text.endswith(".") else ""
    texts = (f"{about}: {done}{stop}", f"{about}: {remains}{stop}")
    lines = split_lines(plan, task, f"[x] {task.stamp.text}{task.stamp.after or ' '}", "[ ] ", texts)
    return (Edit(task.start, task.end, tuple(lines)),)


def _closes(words: str) -> int:
    """Where the bracket is closed with which the words begin, or -1."""
    depth = 0
    for at, char in enumerate(words):
        depth += (char == "(") - (char == ")")
        if not depth:
            return at
    return -1
