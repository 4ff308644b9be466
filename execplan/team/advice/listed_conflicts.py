"""Warnings about conflicts of plans in lists, from their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.plan_store.plan_store import name_in_commands
from execplan.team.advice.conflict_warnings import conflict_warning, unmerged_warnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_facts.listed_plan import ListedPlan


def listed_conflict_warnings(plans: Sequence[ListedPlan]) -> tuple[str, ...]:
    """Return a warning for each plan with conflicts, as `conflict_warnings` does.

    That of an archived plan names the command, because what is next is about an open plan if there is one.
    """
    marked = [plan for plan in plans if plan.facts.conflict_line]
    warnings = [
        conflict_warning(plan.display_path, plan.facts.conflict_line)
        + (f"; to resolve it: execplan merge {name_in_commands(plan.project, plan.ref)}" if plan.ref.archived else "")
        for plan in marked
    ]
    unmarked = [(plan.project, plan.ref) for plan in plans if not plan.facts.conflict_line]
    return (*warnings, *unmerged_warnings(unmarked))
