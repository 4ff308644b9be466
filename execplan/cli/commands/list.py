"""The `execplan list` command."""

from __future__ import annotations

import os

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.text_table import format_table
from execplan.cli.output.worktree_output import worktree_lines
from execplan.cli.plan_filters import documents_line, name_plans, selected_states, state_filter_options
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan.model import ARCHIVED, BROKEN, DOCUMENT
from execplan.core.plan_facts.facts_loader import load_listed_plans
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.project import project_discovery
from execplan.team.advice import execution_status
from execplan.team.advice.advice import Advice
from execplan.team.advice.listed_conflicts import listed_conflict_warnings
from execplan.team.advice.no_open_plans import describe_no_open_plans
from execplan.team.worktrees.newest_plans import with_newest_versions


@define_command(
    reads="every plan outside the archive, with those of nested projects; with --all or --state, also archived plans; execution plans and approvals.",
    writes="the index of many plans in the git directory; nothing else.",
    examples=("execplan list", "execplan list --all --json", "execplan list --state active --state draft"),
    may_page=True,
)
@state_filter_options
def list_(call: Call, *, everything: bool, states: tuple[str, ...]) -> Answer:
    """List plans, one per line.

    Each line shows the plan's state, how many of its tasks are done, its ID and its title.
    """
    project = project_discovery.require(os.getcwd())
    shown_states = selected_states(states, everything=everything)
    listed_plans, locations = with_newest_versions(
        project, load_listed_plans(project, archive=ARCHIVED in shown_states)
    )
    documents = documents_line(listed_plans, "execplan list") if DOCUMENT not in shown_states else ""
    listed_plans = [
        plan for plan in listed_plans if plan.state in shown_states or (plan.ref.path in locations and not states)
    ]
    plans = [
        {
            **listed_plan.to_json(),
            "execution": execution_status.status_if_active(listed_plan),
            "worktree": location.to_json() if location is not None else None,
        }
        for listed_plan in listed_plans
        for location in [locations.get(listed_plan.ref.path)]
    ]
    name_by_path = name_plans(listed_plans)
    names = [name_by_path[listed_plan.ref.path] for listed_plan in listed_plans]
    has_dialects = len({plan["dialect"] for plan in plans}) > 1
    broken = [plan for plan in plans if plan["state"] == BROKEN]
    rows = []
    for plan, name in zip(plans, names, strict=True):
        done, text = "-", plan["error"] if not plan["counts"] else plan["title"] or "(no title)"
        if plan["counts"]:
            done = f"{plan['counts']['done']}/{plan['counts']['total']}"
            text += f" ({plan['why']})" if "why" in plan else ""
            text += execution_status.status_suffix(plan["execution"])
        rows.append((plan["state"], done, *([plan["dialect"]] if has_dialects else []), name, text))
    columns = ("state", "done", *(["dialect"] if has_dialects else []), "plan", "title")
    text, advice = format_table(columns, rows) if rows else "no plans match", Advice()
    if not rows:
        advice = Advice(("execplan list --all",))
        if not states:
            text, advice = describe_no_open_plans(project)
    elif broken:
        advice = Advice((f"execplan lint {quote_plan_name(broken[0]['path'])}",))
    places = [locations.get(listed_plan.ref.path) for listed_plan in listed_plans]
    lines = [text, *worktree_lines(list(zip(names, places, strict=True)))]
    text = "\n".join([*lines, documents] if documents else lines)
    warnings = listed_conflict_warnings(listed_plans)
    status = CHECK_FAILED if broken else OK
    return Answer({"plans": plans}, text, status, warnings=warnings, next_commands=advice.commands, work=advice.work)
