"""EP0: are headings and fences to markdown what they seem to be?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from execplan.lint.rule import WARNING, Given, Place, on_line, rule
from execplan.plan import outline
from execplan.text.blocks import CODE, FENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan
    from execplan.text.blocks import Block


@rule("EP007", WARNING)
def heading_out_of_place(plan: Plan, given: Given) -> Iterator[Place]:
    """A heading stands in a quote or a list item, or is indented.

    It opens no section, or only for some tools; mostly it was not meant to be one: a comment of a shell command outside a
    fence, words pasted from a chat, or the wrong side of a fence. Begin a heading in the first column, and put commands
    into a fence. What fences that do not nest have left in the open is told by EP008 alone.

    Bad:
        ## Concrete Steps

        1. In the root of the repository, `make test` prints `12 passed`.

           # read what it prints
    Good:
        ## Concrete Steps

        1. In the root of the repository, `make test` prints `12 passed`.

           Read what it prints.
    """
    places = list(_out_of_place(plan, given))
    damage = _damage(plan) if places else []
    for place in places:
        at = bisect_right(damage, (place.line, len(plan.text.lines))) - 1
        if at < 0 or place.line >= damage[at][1]:
            yield place


def _out_of_place(plan: Plan, given: Given) -> Iterator[Place]:
    """Headings that open no section, or only for some tools."""
    for block in given.words.headings:
        if block.depth:
            if block.level < 3 or outline.canonical(block.text):
                quoted = plan.text.lines[block.start].lstrip().startswith(">")
                what = "a quote" if quoted else "a list item"
                fence = "; put a command's comment into a fence" if block.level == 1 and not quoted else ""
                yield on_line(plan, block.start, f"this heading stands in {what} and opens no section{fence}")
        elif block.column and block.mark == "#":
            yield on_line(plan, block.start, "this heading is indented; begin it in the first column")
    there = {section.name for section in plan.sections}
    if len(there - {None}) < len(outline.NAMES):
        for block in plan.blocks:
            if block.kind == CODE and block.text.startswith("## "):
                name = outline.canonical(block.text[3:])
                if name is not None and name not in there:
                    yield on_line(plan, block.start, "this heading is indented so far that it is code")


@rule("EP008", WARNING)
def fence_in_fence(plan: Plan, given: Given) -> Iterator[Place]:
    """A fence is opened within a fence of the same marks.

    Fences do not nest: the end of the inner one ends the outer one, what follows is read as text, and the mark that was to
    end the outer one opens another, which swallows what comes next. Give the outer fence one mark more than any in it, or
    close it before the next begins.

    Bad:
        ## Plan of Work

        ```sh
        make test

        It prints:

        ```text
        12 passed
        ```
    Good:
        ## Plan of Work

        ```sh
        make test
        ```

        It prints:

        ```text
        12 passed
        ```
    """
    for outer, at in tangled(plan):
        mark = outer.mark * (outer.level + 1)
        close = f"close the fence of line {outer.start + 1} before it, or open that with {mark}"
        yield on_line(plan, at, f"a fence opens within a fence: {close}")


def tangled(plan: Plan) -> Iterator[tuple[Block, int]]:
    """The fences within which another opens, with the line that opens it.

    Behind the first of them a fence without a language is the end of one, read as a beginning; what it holds proves nothing.
    """
    found = False
    for block in plan.blocks:
        if block.kind == FENCE and (block.text or not found):
            at = _opened_within(plan, block)
            if at >= 0:
                found = True
                yield block, at


def _damage(plan: Plan) -> list[tuple[int, int]]:
    """The lines that fences within fences turn inside out: to the end of the next that only seems to open one."""
    bare = [block for block in plan.blocks if block.kind == FENCE and not block.text]
    starts = [block.start for block in bare]
    ranges: list[tuple[int, int]] = []
    for outer, at in tangled(plan):
        if not ranges or at >= ranges[-1][1]:
            after = bisect_left(starts, outer.end)
            ranges.append((at, bare[after].end if after < len(bare) else outer.end))
    return ranges


def _opened_within(plan: Plan, fence: Block) -> int:
    """The line within a fence that opens another of the same marks, or -1."""
    mark = fence.mark * fence.level
    for at in range(fence.start + 1, fence.end):
        line = plan.text.lines[at]
        if mark in line:
            bare = line.lstrip(" \t>")
            words = bare.lstrip(fence.mark)
            near = len(line) - len(bare) < fence.column + 4
            if near and bare.startswith(mark) and words.strip() and fence.mark not in words:
                return at
    return -1
