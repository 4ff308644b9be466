"""EP2 rules about tasks in Progress; timestamps, task format and milestones have their own modules."""

from __future__ import annotations

from execplan.clock import read_timestamp
from execplan.linter.rule import ERROR, HINT, WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.linter.rules.timestamp_rules import group_tasks
from execplan.plan import outline
from execplan.plan.model import DONE, OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import ParsedPlan, Task

_DONE_BEFORE_PLAN = "(pre-satisfied)"
"""Prefix of a task that was done before the plan was written."""
_PREFIX_LENGTH = 40
"""Number of leading characters that distinguish most tasks; the full text is only compared if they are equal."""
_CLOSING_PUNCTUATION = " .!;:,。"


@rule("EP201", ERROR)
def progress_without_task(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
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
def done_without_timestamp(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
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
        if task.state == DONE and task.timestamp is None and not task.text.startswith(_DONE_BEFORE_PLAN):
            location = (
                " in parentheses before its words, where it belongs" if _has_misplaced_timestamp(task.text) else ""
            )
            yield on_line(plan, task.box_line, f"task {task.number} is done and has no stamp{location}")


def _has_misplaced_timestamp(text: str) -> bool:
    """Return whether a timestamp follows the text, or precedes it in an invalid form."""
    close = text.rstrip(" .")
    ends = read_timestamp(close[close.rfind("(") :]) if close[-1:] == ")" else None
    return ends is not None or (
        text[:1] in ("[", "*", "_", "`") and read_timestamp(text.lstrip("[*_`(")[:10]) is not None
    )


@rule("EP207", HINT)
def checkboxes_outside_progress(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Boxes stand in a section other than Progress.

    They look like open work, and nobody counts them: not the tool, and not who reads Progress to see how far the work is.
    Work belongs in Progress; what is to be true at the end can be said in words. A section whose boxes are all ticked holds
    no open work and is left alone.

    Bad:
        ## Validation and Acceptance

        - [ ] `make test` passes.
        - [ ] The page shows the new name.
    Good:
        ## Validation and Acceptance

        - `make test` passes.
        - The page shows the new name.
    """
    sections: dict[str, list[Task]] = {}
    for title, task in plan.checklists:
        sections.setdefault(title, []).append(task)
    for title, tasks in sections.items():
        # Another rule reports a duplicate of Progress.
        if any([task.state == OPEN for task in tasks]) and outline.canonical_name(title) != outline.PROGRESS:
            boxes = "a box" if len(tasks) == 1 else f"{len(tasks)} boxes"
            yield on_line(plan, tasks[0].box_line, f"{boxes} outside Progress, in {title}: not counted as work")


@rule("EP208", WARNING)
def duplicate_task(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Two tasks of one list have the same words.

    One is a leftover of an edit, or they mean different things and do not say so. Whoever ticks one by its words can't
    tell which is meant. Tasks under different sub-headings, or nested in different tasks, may read alike.
    Capitals and what closes a sentence make no difference.

    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Write the tests.
        - [ ] Write the tests.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Write the tests of the reader.
        - [ ] Write the tests of the writers.
    """
    if len(
        {task.text[:_PREFIX_LENGTH].casefold().replace(" ", "").rstrip(_CLOSING_PUNCTUATION) for task in plan.tasks}
    ) == len(plan.tasks):
        return
    normalized_texts = [" ".join(task.text.casefold().split()).rstrip(_CLOSING_PUNCTUATION) for task in plan.tasks]
    first_tasks: dict[tuple[str, tuple[str, int]], Task] = {}
    for task, text, group in zip(plan.tasks, normalized_texts, group_tasks(plan.tasks), strict=True):
        earlier_task = first_tasks.setdefault((text, group), task)
        if text and earlier_task is not task:
            message = f"the same words as task {earlier_task.number} in line {earlier_task.box_line + 1}"
            yield on_line(plan, task.box_line, message)
