"""EP5 rules about a plan's state: outcome, archiving, status line, and edits after archiving."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.model import COMPLETE
from execplan.core.plan.stated_status import find_done_status, plain_status
from execplan.core.text.message_parts import format_excess, quote
from execplan.core.text.text_lines import digest
from execplan.core.timestamps import minute_bounds
from execplan.linter.plan_source import TextSpan
from execplan.linter.rule import CLOCK, ERROR, TREE, WARNING, RuleContext, RuleMatch, on_line, on_span, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.rule_facts import GitHistory


ARCHIVE_HINT = ": execplan archive"
"""End of a message about a plan to archive: the command, which `doctor` names itself."""
_MINUTES_PER_DAY = 24 * 60


@rule("EP501", ERROR)
def missing_outcome(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """All tasks are done, but Outcomes & Retrospective is empty.

    The plan looks finished, but nobody recorded the result. Record it with `execplan outcome`. With `--hook`, the
    finding is a warning, so that you can commit the last task first.

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
    if section is not None and not plan.outcomes and plan.state() == COMPLETE:
        yield on_line(plan, section.start, "all tasks are done, but this section is empty")


@rule("EP502", ERROR)
def archived_with_open_tasks(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """An archived plan has open tasks, and doesn't say why.

    It is archived as done, but it isn't. Restore it with `execplan restore`, then finish it; or then archive it again with
    `--as abandoned --reason`, which records in the plan why it is unfinished.

    Bad (archived):
        ## Progress

        - [ ] Build the parser.
    Good (archived):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    tasks = plan.unfinished_tasks
    if context.is_archived and tasks and not plan.is_archived_unfinished:
        yield on_line(plan, tasks[0].box_line, f"archived with an open task{format_excess(len(tasks), 1)}")


@rule("EP503", WARNING, needs=CLOCK)
def completed_not_archived(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A plan has been complete for more than a day but is not archived.

    Completed plans hide those that still need work. `execplan archive` moves a plan with its artifacts. A plan that
    states what must happen before it is archived is not reported; neither is one without timestamps, because its
    completion time is unknown.

    Bad (at-home, now 2026-03-09 23:28Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    Good (at-home, now 2026-03-08 23:26Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    if not context.in_project or plan.state() != COMPLETE or not plan.outcomes or context.clock is None:
        return
    timestamps = [
        (minute_bounds(task.timestamp), task.timestamp.date) for task in plan.tasks if task.timestamp is not None
    ]
    end_times = [(span[1], date) for span, date in timestamps if span is not None]
    if not end_times:
        return
    last, date = max(end_times)
    if context.clock.has_passed(last + _MINUTES_PER_DAY + 1) and not defers_archiving(context.source.text.casefold()):
        command = f"{ARCHIVE_HINT} {quote(context.path)}"
        yield on_line(plan, max(plan.title_line, 0), f"complete since {date} but not archived{command}")


def defers_archiving(source: str) -> bool:
    """Return whether a plan states a condition for archiving it."""
    return "before archiv" in source or "not archive" in source


@rule("EP504", WARNING, in_archive=False)
def done_status_with_open_tasks(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A status says that the plan is done, but tasks are open.

    A reader who sees `Status: done`, below the title, in the front matter or in a Metadata list, stops there, and the remaining work is
    forgotten. Check off the tasks that are done, or correct the status; a status that only repeats the checkboxes
    is best omitted.

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
    tasks = plan.unfinished_tasks
    if tasks and not plan.is_archived_unfinished:
        for span in [TextSpan(*status) for status in find_done_status(plan)]:
            message = f"the status says `{plain_status(plan.text.lines[span.line])}`, but task {tasks[0].number} is open{format_excess(len(tasks), 1)}"
            yield on_span(span, message)


@rule("EP506", WARNING, needs=TREE)
def edited_archive(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """An archived plan was edited.

    The archive records what was done and its outcome, and others rely on it not to change. The plan is compared
    with its digest in the evidence that `execplan archive` wrote, or else with the committed version. Undo the
    edit, or restore the plan with `execplan restore`, edit it, and archive it again.

    Bad (archived, path archive/parser.md, evidence 5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    Good (archived, path archive/parser.md):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
    """
    if context.tree is None or not context.is_record:
        return
    evidence = context.tree.archived_digest(context.path)
    if evidence:
        data = plan.text.to_bytes()
        is_edited = evidence not in (digest(data), digest(data.replace(b"\r\n", b"\n")))
    else:
        is_edited = context.history is not None and _differs_from_commit(plan, context.history, context.path)
    if is_edited:
        since = "it was archived" if evidence else "it was committed"
        yield on_line(plan, max(plan.title_line, 0), f"archived, but edited since {since}")


def _differs_from_commit(plan: ParsedPlan, history: GitHistory, path: str) -> bool:
    """Return whether an archived plan differs from the committed version at the same path."""
    before = history.committed_plan
    was_archived_here = history.was_archived and history.committed_path == path
    return was_archived_here and before is not None and before.text.lines != plan.text.lines
