"""EP5: does the plan's state fit what it says?"""

from __future__ import annotations

from execplan.clock import minutes
from execplan.lint.rule import CLOCK, ERROR, TREE, WARNING, Given, Place, on_line, on_span, rule
from execplan.lint.status import done_said
from execplan.plan import outline
from execplan.plan.model import COMPLETE, OPEN, OTHER
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.facts import History
    from execplan.plan.model import Plan

_DAY = 24 * 60


@rule("EP501", ERROR)
def no_outcome(plan: Plan, given: Given) -> Iterator[Place]:
    """All tasks are done and Outcomes & Retrospective says nothing.

    The plan looks finished, but nobody recorded the result. `execplan outcome` does. With `--hook` it is a warning, so that
    you can commit the last task first.

    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        ## Outcomes & Retrospective

        None yet.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        ## Outcomes & Retrospective

        The parser reads all twelve sections; lists in tables are left out.
    """
    section = plan.section(outline.OUTCOMES)
    finished = plan.state() == COMPLETE and all([task.state != OTHER for task in plan.tasks])
    if section is not None and not plan.outcomes and finished:
        yield on_line(plan, section.start, "all tasks are done and this section says nothing")


@rule("EP502", ERROR)
def archived_with_open_tasks(plan: Plan, given: Given) -> Iterator[Place]:
    """An archived plan has open tasks.

    It is filed as done and is not. Finish it, or archive it with `--force --reason`, which records why.

    Bad (archived):
        ## Progress

        - [ ] Build the parser.
    Good (archived):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    tasks = [task for task in plan.tasks if task.state == OPEN]
    if given.archived and tasks:
        count = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
        yield on_line(plan, tasks[0].box, f"archived with an open task{count}")


@rule("EP503", WARNING, needs=CLOCK)
def not_archived(plan: Plan, given: Given) -> Iterator[Place]:
    """A plan has been complete for more than a day, and is not archived.

    Finished plans among the others hide those that somebody has to work on. `execplan archive` moves it with its artifacts.
    One that says what is to happen before it is archived may wait, and of one without stamps nobody knows since when it is.

    Bad (at-home, now 2026-03-09 23:28Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    Good (at-home, now 2026-03-08 23:26Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    if not given.at_home or plan.state() != COMPLETE or not plan.outcomes or given.clock is None:
        return
    if any([task.state == OTHER and task.mark != "-" for task in plan.tasks]):
        return  # what stands in such a box may be half done
    stamps = [(minutes(task.stamp), task.stamp.date) for task in plan.tasks if task.stamp is not None]
    ends = [(span[1], date) for span, date in stamps if span is not None]
    if not ends:
        return
    last, date = max(ends)
    if given.clock.past(last + _DAY + 1) and not _waits(given.words.source.casefold()):
        yield on_line(plan, max(plan.title_line, 0), f"complete since {date} and not archived: execplan archive")


def _waits(source: str) -> bool:
    """Whether a plan says what is to happen before it is archived."""
    return "before archiv" in source or "not archive" in source


@rule("EP504", WARNING)
def done_with_open_tasks(plan: Plan, given: Given) -> Iterator[Place]:
    """A status says that the plan is done, and tasks are open.

    Whoever reads `Status: done`, below the title or in the front matter, looks no further, and what is left is forgotten.
    Tick the tasks that are done, or mend the status; a status that repeats what the boxes say is better left out.

    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [ ] Write the tests.

        ## Status

        Done.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [ ] Write the tests.

        ## Status

        In progress.
    """
    tasks = [task for task in plan.tasks if task.state == OPEN]
    if tasks and not (given.archived or given.given_up or plan.excused):
        for span in done_said(plan, given.words):
            more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
            message = f"the status says `{span.text}`, but task {tasks[0].number} is open{more}"
            yield on_span(span, message)


@rule("EP506", WARNING, needs=TREE)
def archived_and_edited(plan: Plan, given: Given) -> Iterator[Place]:
    """An archived plan was edited.

    The archive keeps what was done and what came of it; whoever relies on that has to know that it stays. It is compared
    with its digest in the evidence that `execplan archive` wrote, or else with what was committed. Undo the edit, or take
    the plan back with `execplan restore`, edit it, and archive it again.

    Bad (archived, path archive/parser.md, evidence 5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    Good (archived, path archive/parser.md):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    if given.tree is None or not (given.archived or given.given_up):
        return
    evidence = given.tree.evidence(given.path)
    if evidence:
        data = plan.text.to_bytes()
        edited = evidence not in (digest(data), digest(data.replace(b"\r\n", b"\n")))
    else:
        edited = given.history is not None and _rewritten(plan, given.history, given.path)
    if edited:
        since = "it was archived" if evidence else "it was committed"
        yield on_line(plan, max(plan.title_line, 0), f"archived, and edited since {since}")


def _rewritten(plan: Plan, history: History, path: str) -> bool:
    """Whether an archived plan was committed in this place with other lines."""
    before = history.before
    stayed = history.was_archived and history.before_path == path
    return stayed and before is not None and before.text.lines != plan.text.lines
