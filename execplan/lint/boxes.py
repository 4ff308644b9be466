"""EP2, the part about form: is a task written as one?"""

from __future__ import annotations

from execplan.lint.rule import SAFE, UNSAFE, WARNING, Given, Place, on_line, rule
from execplan.plan import outline
from execplan.plan.grammar import is_nothing, read_box
from execplan.plan.model import OTHER
from execplan.record import NamedTuple
from execplan.text.blocks import ITEM, PARAGRAPH, QUOTE
from execplan.text.edit import Edit, apply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan, Task
    from execplan.text.blocks import Block

_MARKS = {
    **dict.fromkeys(("", "todo", "to do", "open", "pending", "not started"), " "),
    **dict.fromkeys(("x", "done", "complete", "completed", "finished"), "x"),
}
"""What certainly stands for an open or a ticked box."""

_DID = ("completed so far:", "completed:", "complete:", "done so far:", "done:")
_LEFT = ("remaining work:", "remaining:", "still to do:", "still open:", "left:", "todo:")
_PARTS = "(;.,–—"
"""What stands before such a label, but for a space."""


_GLUED = "no space behind the bullet: this is no task"


class _Odd(NamedTuple):
    """A task, or what was meant as one, that is not written as the format has it."""

    form: str
    line: int
    column: int
    width: int
    instead: str | None
    """What to write in the place of these columns, or None when that is not certain."""


@rule("EP206", WARNING, fix=SAFE)
def odd_form(plan: Plan, given: Given) -> Iterator[Place]:
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
    forms: dict[str, list[_Odd]] = {}
    for task in plan.tasks:
        if task.mark not in " x" or task.item.mark in "*+":
            for odd in _odd_task(plan, task):
                forms.setdefault(odd.form, []).append(odd)
    for odd in _untold(plan):
        forms.setdefault(odd.form, []).append(odd)
    for form, found in forms.items():
        first = found[0]
        count = f" ({len(found)} of them)" if len(found) > 1 else ""
        edits = tuple([_edit(plan, odd, odd.instead) for odd in found if odd.instead is not None])
        if form == _GLUED and not _makes_tasks(plan, edits):
            edits = ()
        yield Place(form + count, first.line, first.column, first.line + 1, first.column + first.width, edits)


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
        if did is not None and task.stamp is not None and task.stamp.possible:
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


def _odd_task(plan: Plan, task: Task) -> Iterator[_Odd]:
    """What is odd about the box and the bullet of a task."""
    line = plan.text.lines[task.box]
    at = line.index(f"[{task.mark}]")
    if task.state == OTHER:
        yield _Odd(f"`[{task.mark}]` is neither open nor done", task.box, at, 3, None)
    elif task.mark == "X":
        yield _Odd("the box of a done task is `[x]`", task.box, at, 3, "[x]")
    if task.item.mark in "*+" and task.start == task.box:
        bullet = line.rindex(task.item.mark, 0, at)
        yield _Odd("the bullet of a task is `-`", task.box, bullet, 1, "-")


def _untold(plan: Plan) -> Iterator[_Odd]:
    """What stands in Progress, is meant as a task, and is none."""
    section = plan.section(outline.PROGRESS)
    if section is None:
        return
    source = "\n".join(plan.text.lines[section.body : section.end])
    glued = "-[" in source
    if not glued and source.count(" [") == len(plan.tasks):
        return  # each bracket that may be a box is one
    known = {task.start for task in plan.tasks}
    quoted = -1
    for block in plan.blocks[section.first : section.last]:
        if block.kind == QUOTE:
            quoted = max(quoted, block.end)
        elif block.start < quoted:
            continue
        elif block.kind == ITEM and block.text[:1] == "[" and block.start not in known:
            yield from _written_box(plan, block)
        elif block.kind == PARAGRAPH and glued:
            yield from _no_space(plan, block)


def _written_box(plan: Plan, item: Block) -> Iterator[_Odd]:
    """An item that begins with brackets which certainly stand for a box; `[x](…)` is a link."""
    close = item.text.find("]", 0, 20)
    said = item.text[1:close].strip().casefold() if close > 0 else "?"
    rest = item.text[close + 1 : close + 2]
    if said in _MARKS and rest and (rest in " `*_" or rest.isalnum()):
        old, box = item.text[: close + 1], f"[{_MARKS[said]}]"
        form = f"`{old}` is no box: `{box}` is" if old.lower() != box else "no space behind the box: this is no task"
        column = plan.text.lines[item.start].index(old)
        yield _Odd(form, item.start, column, close + 1, box if rest == " " else f"{box} ")


def _no_space(plan: Plan, paragraph: Block) -> Iterator[_Odd]:
    """The lines of a paragraph that are items but for the space behind their bullet."""
    for at in range(paragraph.start, paragraph.end):
        line = plan.text.lines[at]
        bare = line.lstrip(" \t")
        box = read_box(bare[1:].rstrip()) if bare[:2] == "-[" else None
        if box is not None and box.mark in " xX" and box.words:
            yield _Odd(_GLUED, at, len(line) - len(bare), 4, f"- [{box.mark}]")


def _makes_tasks(plan: Plan, edits: tuple[Edit, ...]) -> bool:
    """Whether each of the edits makes a line a task: one that is indented too far stays text."""
    from execplan.plan.reader import read_text

    return len(read_text(apply(plan.text, edits)).tasks) == len(plan.tasks) + len(edits)


def _edit(plan: Plan, odd: _Odd, instead: str) -> Edit:
    line = plan.text.lines[odd.line]
    return Edit(odd.line, odd.line + 1, (line[: odd.column] + instead + line[odd.column + odd.width :],))


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
    bracketed = text[did[0] - 1] == "("
    if bracketed:
        end = remains.rstrip(".")
        if not end.endswith(")") or end.count("(") + 1 != end.count(")") or done.count("(") != done.count(")"):
            return ()
        remains = end[:-1].rstrip()
    remains = remains.rstrip(".")
    if is_nothing(done) or task.stamp is None:
        return ()
    stop = "." if text.endswith(".") else ""
    texts = (f"{about}: {done}{stop}", f"{about}: {remains}{stop}")
    lines = split_lines(plan, task, f"[x] {task.stamp.text}{task.stamp.after or ' '}", "[ ] ", texts)
    return (Edit(task.start, task.end, tuple(lines)),)
