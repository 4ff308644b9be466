"""EP5: does the plan's state fit what it says?"""

from __future__ import annotations

from execplan.lint.rule import ERROR, Given, Place, on_line, rule
from execplan.plan import outline
from execplan.plan.model import COMPLETE, OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan


@rule("EP501", ERROR)
def no_outcome(plan: Plan, given: Given) -> Iterator[Place]:
    """All tasks are done and Outcomes & Retrospective says nothing.

    The plan looks finished, but nobody wrote down what came of it. `execplan outcome` does.

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
