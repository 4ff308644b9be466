"""EP0: can the file be read as a plan at all?"""

from __future__ import annotations

from execplan.lint.rule import ERROR, RuleContext, RuleMatch, on_line, rule
from execplan.text.blocks import FENCE, FRONT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan


@rule("EP001", ERROR)
def unreadable_file(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    r"""The file can't be read.

    It is empty, larger than 5 MiB, holds a NUL byte, or is not UTF-8. Nothing in it can be shown or edited, so the
    plan counts as broken until it is mended.

    Bad:
        # Build the \0 parser
    Good:
        # Build the parser
    """
    return iter(())  # such a file is no Plan: the runner reports what the reader refused


@rule("EP002", ERROR)
def conflict_markers(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """The file holds conflict markers of git.

    Two sides of a merge stand in it, so nobody knows which tasks are done. Verbs that read still show the plan; verbs
    that write refuse.

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
        yield on_line(plan, plan.conflict_lines[0], f"conflict marker ({count} line{'s' if count > 1 else ''} of them)")


@rule("EP003", ERROR)
def unclosed_fence(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """A fence or an HTML comment is opened and never closed.

    All that stands below it is part of it: sections and tasks vanish, for people who read the page and for tools.
    A fence closes with at least as many of the same marks as it opened with.

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
def wrapped_in_fence(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """The whole plan stands inside a fence.

    It was copied with the fence that a chat or a skeleton showed it in. To every reader of markdown it is one block of
    code. Remove the first and the last line.

    Bad:
        ```md
        # Build the parser

        ## Progress
        ```
    Good:
        # Build the parser

        ## Progress
    """
    outer = [block for block in plan.blocks if not block.depth and block.kind != FRONT]
    if outer and outer[0].kind == FENCE and plan.title is None and not plan.sections:
        inside = plan.text.lines[outer[0].start + 1 : outer[0].end]
        if any([line.startswith(("# ", "## ")) for line in inside]):
            yield on_line(plan, outer[0].start, "the whole plan stands inside this fence")
