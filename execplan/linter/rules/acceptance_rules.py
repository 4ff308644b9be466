"""EP5 rule about the checks of tasks, which `execplan done --verify` runs."""

from __future__ import annotations

from execplan.core.plan.task_checks import find_check, has_checks
from execplan.linter.rule import WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.task_checks import TaskCheck


@rule("EP516", WARNING)
def unreadable_check(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The check of a task can't be read, so `done --verify` can't run it.

    A check is a nested item below the task: the word `Check:`, a command in backticks, and maybe the attributes `cwd`
    and `timeout` in braces. A task has one check at most.

    Bad:
        ## Progress

        - [ ] Build the parser.
          - Check: pytest -q tests/parser
    Good:
        ## Progress

        - [ ] Build the parser.
          - Check: `pytest -q tests/parser` {timeout=5m}
    """
    if not has_checks(plan):
        return
    from execplan.core import features

    check_problem: Callable[[TaskCheck], str] = features.load(features.CHECK_PROBLEM)

    for task in plan.tasks:
        check = find_check(plan, task)
        if check is not None and (problem := check_problem(check)):
            yield on_line(plan, check.start, f"the check of task {task.number} can't be read: {problem}")
