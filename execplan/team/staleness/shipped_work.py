"""Evidence that the work of plans with open tasks is done, for the rule about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.rule_facts import ShippedWork
from execplan.team.staleness.stale_plan import SHIPPED_UNCHECKED
from execplan.team.staleness.stale_plans import find_stale_plans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.linter.rule_selection import RuleSelection

CODE = "EP513"
"""Code of the rule that needs the evidence, which takes a search of the main branch's history."""


def find_shipped_work(stored_plans: Sequence[StoredPlan], selection: RuleSelection) -> dict[str, ShippedWork]:
    """Return the evidence by absolute path of the plan, for plans on which the rule runs. Raises ExecplanError if Git fails."""
    open_plans = [
        stored_plan
        for stored_plan in stored_plans
        if CODE in active_levels(stored_plan.project, selection, stored_plan.project.display_path(stored_plan.ref.path))
        and stored_plan.require_plan().unfinished_tasks
    ]
    return {
        stale_plan.stored_plan.ref.path: ShippedWork("; ".join(stale_plan.evidence[1:]), stale_plan.remedy)
        for stale_plan in find_stale_plans(open_plans)
        if stale_plan.kind == SHIPPED_UNCHECKED
    }
