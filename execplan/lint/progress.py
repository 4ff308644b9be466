"""EP2: does Progress tell the truth?"""

from __future__ import annotations

from execplan.clock import read_stamp
from execplan.lint.rule import ERROR, WARNING, Given, Place, on_line, rule
from execplan.plan import outline
from execplan.plan.model import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan


@rule("EP201", ERROR)
def no_task(plan: Plan, given: Given) -> Iterator[Place]:
    """Progress holds no task.

    Without checkboxes nobody can tell how far the work is, and zero of zero looks like done. A box in a fence, a quote,
    a comment or another section is no task.

    Bad:
        ## Progress

        Work has begun.
    Good:
        ## Progress

        - [ ] Build the parser.
    """
    section = plan.section(outline.PROGRESS)
    if section is not None and not plan.tasks:
        yield on_line(plan, section.start, "no task: add one with `execplan add 'First step'`")


@rule("EP202", WARNING)
def done_without_stamp(plan: Plan, given: Given) -> Iterator[Place]:
    """A done task has no stamp.

    The stamp says when it was finished, so that the order of events can be told later. `execplan done` writes it.

    Bad:
        ## Progress

        - [x] Build the parser.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    for task in plan.tasks:
        if task.state == DONE and task.stamp is None:
            yield on_line(plan, task.box, f"task {task.number} is done and has no stamp")


@rule("EP203", ERROR)
def impossible_stamp(plan: Plan, given: Given) -> Iterator[Place]:
    """A stamp names a date or a time that does not exist.

    Whoever reads it can't tell what was meant, and no tool can put it in order.

    Bad:
        ## Progress

        - [x] (2026-02-30 25:10Z) Build the parser.
    Good:
        ## Progress

        - [x] (2026-02-28 23:10Z) Build the parser.
    """
    for task in plan.tasks:
        if task.stamp is not None and not task.stamp.possible:
            yield _stamp(plan, task.box, task.box + 1, task.stamp.text)
    for entry in plan.decisions:
        stamp = read_stamp(entry.date) if entry.date else None
        if stamp is not None and not stamp.possible:
            yield _stamp(plan, entry.start, entry.end, stamp.text)


def _stamp(plan: Plan, start: int, end: int, text: str) -> Place:
    for at in range(start, end):
        column = plan.text.lines[at].find(text)
        if column >= 0:
            return Place(f"{text} is no date that exists", at, column, at + 1, column + len(text))
    return on_line(plan, start, f"{text} is no date that exists")
