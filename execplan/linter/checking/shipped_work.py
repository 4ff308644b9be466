"""Evidence that the work of plans with open tasks is done, added to their Git history for the rule about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.rule_facts import ShippedWork
from execplan.plan import reader
from execplan.plan_store.plan_store import StoredPlan
from execplan.staleness.stale_plan import SHIPPED_UNCHECKED
from execplan.staleness.stale_plans import find_stale_plans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.plan_histories import PlanContent
    from execplan.linter.rule_facts import GitHistory
    from execplan.linter.rule_selection import RuleSelection

CODE = "EP513"
"""Code of the rule that needs the evidence, which takes a search of the main branch's history."""


def add_shipped_work(
    plans: Sequence[PlanContent], histories: dict[str, GitHistory], selection: RuleSelection
) -> dict[str, GitHistory]:
    """Return the histories with the evidence for the plans on which the rule runs. Raises ExecplanError if Git fails."""
    stored_plans = []
    for project, ref, data in plans:
        plan = None if ref.archived else reader.read_or_none(data)
        levels = active_levels(project, selection, project.display_path(ref.path))
        if plan is not None and CODE in levels and plan.counts()["open"]:
            stored_plans.append(StoredPlan(project, ref, data, plan, None))
    shipped = {
        stale_plan.stored_plan.ref.path: ShippedWork("; ".join(stale_plan.evidence[1:]), stale_plan.remedy)
        for stale_plan in find_stale_plans(stored_plans)
        if stale_plan.kind == SHIPPED_UNCHECKED
    }
    return {path: history._replace(shipped=shipped.get(path)) for path, history in histories.items()}
