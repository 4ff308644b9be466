"""EP2, the part about form: is a task written as one?"""

from __future__ import annotations

from execplan.lint.rule import SAFE, WARNING, Given, Place, rule
from execplan.plan import outline
from execplan.plan.grammar import read_box
from execplan.plan.model import OTHER
from execplan.record import NamedTuple
from execplan.text.blocks import ITEM, PARAGRAPH, QUOTE
from execplan.text.edit import Edit

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
        yield Place(form + count, first.line, first.column, first.line + 1, first.column + first.width, edits)


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
            column = len(line) - len(bare)
            sure = at == paragraph.start or column in (0, 1, 2, 3, paragraph.column)  # else it may still be text
            yield _Odd(
                "no space behind the bullet: this is no task",
                at,
                column,
                4,
                f"- [{box.mark.lower()}]" if sure else None,
            )


def _edit(plan: Plan, odd: _Odd, instead: str) -> Edit:
    line = plan.text.lines[odd.line]
    return Edit(odd.line, odd.line + 1, (line[: odd.column] + instead + line[odd.column + odd.width :],))
