"""What a plan said when it was committed, against what it says now; few runs ask, so what compares is imported then."""

from __future__ import annotations

from execplan.lint.rule import COMMITTED, HINT, HISTORY, WARNING, Given, Place, on_line, on_span, rule
from execplan.plan import outline
from execplan.plan.model import COMPLETE, DONE, DRAFT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan

_STEM = 5
"""Letters by which two words are taken for one: parser, parse."""

_SHOWN = 3
"""Names in one message."""


@rule("EP212", WARNING, needs=HISTORY)
def fewer_done(plan: Plan, given: Given) -> Iterator[Place]:
    """A task that was done when the plan was committed is open again, or gone.

    Somebody wrote an old copy over the plan, or reopened a task and did not say why. Tick it again, or tell the reason in
    an entry that names the task: `execplan discover`, `execplan decide`.

    Before:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [x] (2026-03-08 10:02Z) Write the tests.
    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [ ] Write the tests.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [ ] Write the tests.

        ## Surprises & Discoveries

        - Observation: The tests of the parser never ran in CI.
          Evidence: The log of run 12 has no line of pytest.
    """
    before = given.history.before if given.history is not None else None
    if before is None:
        return
    from execplan.lint.compared import new_entries
    from execplan.plan.seek import fold

    was = {fold(task.text) for task in before.tasks if task.state == DONE}
    is_done = {fold(task.text) for task in plan.tasks if task.state == DONE}
    told = {word[:_STEM] for text in new_entries(before, plan, found=True) for word in text.split()}
    here = set(is_done)
    for task in plan.tasks:
        words = fold(task.text)
        here.add(words)
        if words in was and words not in is_done and not _is_told(words, told):
            why = "was done when the plan was committed, and nothing says why it is open again"
            yield on_line(plan, task.box, f"task {task.number} {why}")
    here |= {fold(task.text) for _, task in plan.checklists}
    gone = [task.text for task in before.tasks if task.state == DONE and fold(task.text) not in here]
    fresh = is_done - {fold(task.text) for task in before.tasks}
    gone = [text for text in gone if not _is_told(fold(text), told)]
    if len(gone) > len(fresh):  # else they may be the same, in other words
        section = plan.section(outline.PROGRESS)
        names = ", ".join([f"`{_short(text)}`" for text in gone[:_SHOWN]])
        more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
        tasks = "tasks that were" if len(gone) > 1 else "a task that was"
        message = f"{tasks} done when the plan was committed {'are' if len(gone) > 1 else 'is'} gone: {names}{more}"
        yield on_line(plan, section.start if section is not None else max(plan.title_line, 0), message)


@rule("EP307", HINT, needs=HISTORY)
def entry_rewritten(plan: Plan, given: Given) -> Iterator[Place]:
    """An entry of a log was rewritten, or taken out, after it was committed.

    The logs say how the work came to be what it is; others have read them and acted on them. Add a new entry that
    corrects the old one, a decision with `execplan decide --supersedes`. Words that are added at its end are fine.

    Before:
        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
    Bad:
        ## Decision Log

        - Decision: Read the file whole.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
    Good:
        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
        - Decision: Read the file whole.
          Rationale: Lines may be wrapped.
          Date/Author: 2026-01-02 / Ann
          Supersedes: Read line by line. (2025-12-30)
    """
    before = given.history.before if given.history is not None else None
    if before is None or given.archived or given.given_up or DRAFT in (before.state(), plan.state()):
        return
    from execplan.lint.compared import rewritten_entries

    for kind, old, line in rewritten_entries(before, plan, outcomes=before.state() == COMPLETE):
        yield on_line(plan, line, f"the {kind} `{_short(old)}` was committed, and is rewritten or gone")


@rule("EP308", WARNING, needs=COMMITTED)
def specification_changed(plan: Plan, given: Given) -> Iterator[Place]:
    """What the plan prescribes was changed since it was committed, and neither a decision nor a revision note says why.

    Work has begun on the old text, and whoever continues it has to know what is different. `execplan decide` or
    `execplan revise` records it. Plans in which nothing is done yet, or everything, may change freely, and so may the
    living sections, `Artifacts and Notes`, and `Context and Orientation`, which describes rather than prescribes. A
    different path of a plan, or different white space, is not a change.

    Before:
        ## Plan of Work

        Write the scanner, then the reader.
    Bad:
        ## Plan of Work

        Write the reader on top of a library.
    Good:
        ## Plan of Work

        Write the reader on top of a library.

        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
        - Decision: Take a library.
          Rationale: It reads all of CommonMark.
          Date/Author: 2026-01-02 / Ann
    """
    before = given.history.before if given.history is not None else None
    if before is None or given.archived or given.given_up or DRAFT in (before.state(), plan.state()):
        return
    from execplan.lint.compared import changed_sections, new_entries

    if before.state() == COMPLETE or not any([task.state == DONE for task in before.tasks]):
        return
    changed = changed_sections(before, plan)
    if changed and changed != [outline.CONTEXT] and not new_entries(before, plan):
        section = plan.section(changed[0])
        others = f" (and {', '.join(changed[1:])})" if changed[1:] else ""
        what = f"{changed[0]}{others} changed since it was committed, and no decision or revision note says why"
        yield on_line(plan, section.start if section is not None else max(plan.title_line, 0), what)


@rule("EP507", HINT, needs=HISTORY)
def drifted(plan: Plan, given: Given) -> Iterator[Place]:
    """Files that the plan is about were changed by commits since the plan was last touched.

    The plan says how they were. Whoever goes on with it should read them first, and mend what is no longer so. Counted
    are files that a code span names as a whole, outside the logs; a merge counts as one step.

    Bad (changed src/reader.py):
        ## Context and Orientation

        The reader is `src/reader.py`.
    Good (changed src/writer.py):
        ## Context and Orientation

        The reader is `src/reader.py`.
    """
    if given.history is None or not given.history.changed or given.archived or given.given_up:
        return
    if plan.state() == COMPLETE:
        return
    from execplan.lint.scope import paths_named

    named, changed = paths_named(plan, given.words), set(given.history.changed)
    paths = [path for path in named if path in changed]
    if paths:
        span = named[paths[0]]
        others = ", ".join(paths[1:_SHOWN])
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        also = f"; so were {others}{more}" if others else ""
        message = f"{paths[0]} was changed since the plan was last touched{also}"
        yield on_span(span, message)


def _is_told(words: str, told: set[str]) -> bool:
    """Whether new entries have a long word of a task, or say that something was reopened; told is how their words begin."""
    return "reope" in told or any([len(word) >= _STEM and word[:_STEM] in told for word in words.split()])


def _short(text: str) -> str:
    return text if len(text) < 60 else text[:57].rstrip() + "…"
