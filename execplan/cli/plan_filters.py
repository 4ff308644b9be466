"""Options of commands that list plans: which plans they show, and under which names."""

from __future__ import annotations

from collections.abc import Sequence

import click

from execplan.cli.option_rules import join_options
from execplan.core.plan.model import ARCHIVED, DOCUMENT, STATES
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.text.message_parts import format_count

state_filter_options = join_options(
    click.option("--all", "everything", is_flag=True, help="Include archived plans."),
    click.option(
        "--state",
        "states",
        type=click.Choice(STATES),
        multiple=True,
        help="Show only plans in this state; can be repeated.",
    ),
)


def selected_states(states: Sequence[str], *, everything: bool) -> Sequence[str]:
    """Return the states that the options select; without options, all but those of archived plans and of documents."""
    return states or [state for state in STATES if everything or state not in (ARCHIVED, DOCUMENT)]


def name_plans(plans: Sequence[ListedPlan]) -> dict[str, str]:
    """Return the name of each plan of a list, by path: the ID, or the path from the root if several plans have the ID.

    In a list of several projects, all names are paths.
    """
    paths = {plan.ref.path: plan.display_path for plan in plans}
    if len({plan.project.base_path for plan in plans}) > 1:
        return paths
    path_by_id: dict[str, str] = {}
    repeated = {plan.ref.id for plan in plans if path_by_id.setdefault(plan.ref.id, plan.ref.path) != plan.ref.path}
    return {**paths, **{path: plan_id for plan_id, path in path_by_id.items() if plan_id not in repeated}}


def documents_line(plans: Sequence[ListedPlan], command: str) -> str:
    """Return a line about the documents among the plans, which a command does not list; empty if there are none."""
    reasons = [plan.facts.why_document for plan in plans if plan.state == DOCUMENT]
    files = format_count(len(reasons), "file")
    verb = "is not a plan" if len(reasons) == 1 else "are not plans"
    reason = "; ".join(dict.fromkeys(reasons))
    return f"{files} here {verb} ({reason}): {command} --state {DOCUMENT}" if reasons else ""
