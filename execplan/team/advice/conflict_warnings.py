"""Warnings about plans with Git conflict markers, and the commands that resolve them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.plan_store.plan_store import name_in_commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_facts.listed_plan import ListedPlan
    from execplan.core.plan_store.plan_store import StoredPlan


def conflict_warnings(stored_plans: Sequence[StoredPlan]) -> tuple[str, ...]:
    """Return a warning for each plan with Git conflict markers."""
    return tuple(
        [
            _conflict_warning(
                stored_plan.project.display_path(stored_plan.ref.path), stored_plan.plan.conflict_lines[0] + 1
            )
            for stored_plan in stored_plans
            if stored_plan.plan is not None and stored_plan.plan.conflict_lines
        ]
    )


def conflict_commands(stored_plans: Sequence[StoredPlan]) -> tuple[str, ...]:
    """Return the command that resolves the conflicts of each plan with Git conflict markers."""
    return tuple(
        [
            f"execplan merge {name_in_commands(stored_plan.project, stored_plan.ref)}"
            for stored_plan in stored_plans
            if stored_plan.plan is not None and stored_plan.plan.conflict_lines
        ]
    )


def listed_conflict_warnings(plans: Sequence[ListedPlan]) -> tuple[str, ...]:
    """Return a warning for each plan with Git conflict markers, as `conflict_warnings` does."""
    conflicts = [(plan.display_path, plan.facts.conflict_line) for plan in plans if plan.facts.conflict_line]
    return tuple([_conflict_warning(path, line) for path, line in conflicts])


def _conflict_warning(path: str, line: int) -> str:
    return f"{path}: line {line} contains a git conflict marker: both sides are shown"
