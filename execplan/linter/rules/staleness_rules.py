"""EP2 rule about stalled plans, which have open tasks and no recent date."""

from __future__ import annotations

from execplan.core.plan.model import ACTIVE
from execplan.core.plan.plan_dates import day_start, is_on_hold, latest_date, latest_timestamp_date
from execplan.linter.rule import CLOCK, HINT, RuleContext, RuleMatch, on_line, rule
from execplan.linter.rules.timestamp_rules import MAX_TIMEZONE_OFFSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan


@rule("EP209", HINT, needs=CLOCK, in_archive=False)
def stalled_plan(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A plan with open tasks has no date in the last `stalled_days` days (default: 14).

    Nobody works on it, or somebody does but doesn't record it. Check off what is done, record what blocks it, or
    archive it. A plan without any date hasn't started and is not reported. Neither is a plan whose header or status
    says that it is superseded, deferred, on hold or abandoned, or that is in a directory for such plans, and
    neither are tasks below a heading or a line that defers them.

    Bad (now 2026-03-29 12:00Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [ ] Build the parser.
    Good (now 2026-03-12 12:00Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [ ] Build the parser.
    """
    if context.clock is None or plan.state() != ACTIVE:
        return
    open_tasks = plan.unfinished_tasks
    limit = 1440 + MAX_TIMEZONE_OFFSET + context.stalled_days * 1440
    date = latest_timestamp_date(plan) if open_tasks else ""
    day = day_start(date)
    if day is None or not context.clock.has_passed(day + limit):
        return
    date = latest_date(plan)
    day = day_start(date)
    if day is None or not context.clock.has_passed(day + limit) or is_on_hold(plan, context.path):
        return
    task = open_tasks[0]
    yield on_line(plan, task.box_line, f"task {task.number} is open, but the plan has no date after {date}")
