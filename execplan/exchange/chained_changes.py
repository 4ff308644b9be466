"""Two changes of a plan as one, which is written at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan.plan_change import PlanChange, plan_content
from execplan.core.plan.text_rebase import rebase_text

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_change import ChangeBuilder


def chain_changes(first: ChangeBuilder, second: ChangeBuilder) -> ChangeBuilder:
    """Build a change that makes one change after the other; the second must leave the tasks as they are.

    Each of them is checked as if it were alone.
    """

    def change(plan: ParsedPlan) -> PlanChange:
        data, titles = plan.text.to_bytes(), plan.text.titles
        middle, first_change = apply_change(data, first, titles=titles)
        new, second_change = apply_change(middle, second, titles=titles)
        messages = first_change.messages + second_change.messages
        if new == data:
            return PlanChange((), plan_content(plan), "", messages, first_change.tasks)
        summary = first_change.summary or second_change.summary
        combined = rebase_text(plan, data, new, summary, "", "")
        return combined._replace(messages=messages, tasks=first_change.tasks)

    return change
