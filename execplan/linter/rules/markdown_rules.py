"""EP0 rules about Markdown that prevents a file from being read as a plan."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from execplan.core.plan import outline
from execplan.core.plan.plan_recognition import wrapping_fence
from execplan.core.text.markdown_blocks import CODE, FENCE
from execplan.core.text.message_parts import format_count
from execplan.linter.rule import ERROR, WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block


@rule("EP007", WARNING)
def misplaced_heading(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A heading is in a quote or a list item, or is indented.

    It starts no section, or only for some tools. Usually it isn't meant as a heading: it is a comment of a shell
    command outside a code block, text pasted from a chat, or the wrong side of a code block. Start a heading in the
    first column, and put commands into a code block. Headings exposed by nested code blocks are reported by EP008
    only.

    Bad:
        ## Concrete Steps

        1. In the root of the repository, `make test` prints `12 passed`.

           # read what it prints
    Good:
        ## Concrete Steps

        1. In the root of the repository, `make test` prints `12 passed`.

           Read what it prints.
    """
    matches = list(_misplaced_matches(plan, context))
    broken_ranges = _broken_ranges(plan) if matches else []
    for match in matches:
        at = bisect_right(broken_ranges, (match.line, len(plan.text.lines))) - 1
        if at < 0 or match.line >= broken_ranges[at][1]:
            yield match


def _misplaced_matches(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Yield headings that open no section, or only in some tools."""
    for block in context.source.headings:
        if block.depth:
            if block.level < 3 or outline.canonical_name(block.text):
                is_quoted = plan.text.lines[block.start].lstrip().startswith(">")
                container = "a quote" if is_quoted else "a list item"
                fence = "; put a command's comment into a code block" if block.level == 1 and not is_quoted else ""
                yield on_line(plan, block.start, f"this heading is in {container} and starts no section{fence}")
        elif block.column and block.mark == "#":
            yield on_line(plan, block.start, "this heading is indented; start it in the first column")
    present_names = {section.name for section in plan.sections}
    if len(present_names - {None}) < len(outline.NAMES):
        for block in plan.blocks:
            if block.kind == CODE and block.text.startswith("## "):
                name = outline.canonical_name(block.text[3:])
                if name is not None and name not in present_names:
                    yield on_line(plan, block.start, "this heading is indented so far that it counts as code")


@rule("EP008", WARNING)
def nested_fence(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A code block starts inside another one with the same fence.

    Code blocks do not nest: the end of the inner one ends the outer one, and the text that follows is no longer
    code. The fence that was meant to end the outer block then opens another one, which swallows the next text. Use
    a longer fence for the outer block than for any block in it, or close it before the next one starts.

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
    for outer, at in find_nested_fences(plan):
        mark = outer.mark * (outer.level + 1)
        close = f"close the code block from line {outer.start + 1} before it, or open that block with {mark}"
        yield on_line(plan, at, f"a code block starts inside another one: {close}")


def find_nested_fences(plan: ParsedPlan) -> Iterator[tuple[Block, int]]:
    """Yield the code blocks inside which another one opens, with the line that opens it.

    After the first of them, a code block without a language is the end of one, read as a beginning, so its content
    proves nothing.
    """
    has_nested = False
    for block in plan.blocks:
        if block.kind == FENCE and (block.text or not has_nested):
            at = _nested_opening_line(plan, block)
            if at >= 0:
                has_nested = True
                yield block, at


def _broken_ranges(plan: ParsedPlan) -> list[tuple[int, int]]:
    """Return the line ranges inverted by nested code blocks.

    Each ends with the next block that only seems to open one.
    """
    unlabeled_fences = [block for block in plan.blocks if block.kind == FENCE and not block.text]
    starts = [block.start for block in unlabeled_fences]
    ranges: list[tuple[int, int]] = []
    for outer, at in find_nested_fences(plan):
        if not ranges or at >= ranges[-1][1]:
            next_index = bisect_left(starts, outer.end)
            ranges.append((at, unlabeled_fences[next_index].end if next_index < len(unlabeled_fences) else outer.end))
    return ranges


def _nested_opening_line(plan: ParsedPlan, fence: Block) -> int:
    """Return the line inside a code block that opens another with the same marks, or -1."""
    mark = fence.mark * fence.level
    for at in range(fence.start + 1, fence.end):
        line = plan.text.lines[at]
        if mark in line:
            bare = line.lstrip(" \t>")
            info = bare.lstrip(fence.mark)
            is_near = len(line) - len(bare) < fence.column + 4
            if is_near and bare.startswith(mark) and info.strip() and fence.mark not in info:
                return at
    return -1


@rule("EP001", ERROR)
def unreadable_file(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    r"""The file can't be read.

    It is empty, larger than 5 MiB, contains a NUL byte, or is not UTF-8. Nothing in it can be shown or edited, so
    the plan counts as broken until the file is fixed.

    Bad:
        # Build the \0 parser
    Good:
        # Build the parser
    """
    return iter(())  # such a file gives no Plan: the runner reports the read error


@rule("EP002", ERROR)
def conflict_markers(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The file contains conflict markers of git.

    It has both sides of a merge, so it is unclear which tasks are done. Commands that read still show the plan;
    commands that write fail.

    Bad:
        ## Progress

        <<<<<<< HEAD
        - [x] (2026-03-07 23:27Z) Build the parser.
        =======
        - [ ] Build the parser.
        >>>>>>> other
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    if plan.conflict_lines:
        count = len(plan.conflict_lines)
        yield on_line(plan, plan.conflict_lines[0], f"the plan contains {format_count(count, 'git conflict marker')}")


@rule("EP003", ERROR)
def unclosed_fence(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A code block or an HTML comment is never closed.

    Everything below it becomes part of it: sections and tasks disappear, for readers of the rendered page and for
    tools. A code block is closed by a fence of the same characters that is at least as long as the opening one.

    Bad:
        ## Concrete Steps

        ```sh
        make test
    Good:
        ## Concrete Steps

        ```sh
        make test
        ```
    """
    for block in plan.blocks:
        if not block.is_closed:
            mark = block.mark * block.level if block.kind == FENCE else block.text[:4]
            yield on_line(plan, block.start, f"{mark} is never closed")


@rule("EP004", ERROR)
def wrapped_in_fence(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The whole plan is inside a code block.

    It was copied together with the code block in which a chat or a template showed it. Every markdown reader sees only
    one block of code. Remove the first and the last line.

    Bad:
        ```md
        # Build the parser

        ## Progress
        ```
    Good:
        # Build the parser

        ## Progress
    """
    fence_line = wrapping_fence(plan)
    if fence_line >= 0:
        yield on_line(plan, fence_line, "the whole plan is inside this code block")
