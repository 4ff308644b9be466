"""The `execplan status` command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.output.text_table import ProgressCell, format_table
from execplan.cli.output.worktree_output import worktree_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.plan_filters import documents_line, name_plans, selected_states, state_filter_options
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan.model import ACTIVE, BROKEN, COMPLETE, DOCUMENT, DRAFT, STATES
from execplan.core.plan_facts.facts_extraction import list_stored_plan
from execplan.core.plan_facts.facts_loader import load_listed_plans
from execplan.core.plan_store import implied_plan, plan_selection, plan_store
from execplan.core.plan_store.implied_plan import is_plan_of_worktree, plan_of_worktree
from execplan.core.plan_store.plan_activity import PlanActivity
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count, shorten
from execplan.team.advice import execution_status
from execplan.team.advice.advice import Advice
from execplan.team.advice.listed_conflicts import listed_conflict_warnings
from execplan.team.advice.next_plan import work_order
from execplan.team.advice.next_tasks import (
    OpenTasks,
    describe_blockers,
    describe_next_task,
    describe_unknown,
    find_listed_open_tasks,
    load_listed_claims,
)
from execplan.team.advice.no_open_plans import advise_new_plan
from execplan.team.advice.plan_advice import advise, finish_archived_commands
from execplan.team.dependencies.plan_resolver import PlanResolver
from execplan.team.worktrees.newest_plans import with_newest_version, with_newest_versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.plan_facts.listed_plan import ListedPlan
    from execplan.core.plan_store.claims_file import Claim
    from execplan.core.project.project import Project
    from execplan.team.worktrees.plan_versions import PlanLocation

_BY_STATE = "state"
_BY_ACTIVITY = "activity"
_BY_PROGRESS = "progress"
_BY_ID = "id"
_SORT_ORDERS = (_BY_STATE, _BY_ACTIVITY, _BY_PROGRESS, _BY_ID)
_MAX_COMPLETE = 10
"""Maximum number of complete plans that are listed although nobody asks for them."""
_MAX_TASK_LENGTH = 200
"""Maximum length of a plan's next task, also in a pipe; `show` prints all of it."""


@define_command(
    reads="every plan, including nested projects, or the named one; execution plans and approvals.",
    writes="the index of many plans in the git directory; nothing else.",
    examples=(
        "execplan status",
        "execplan status parser --json",
        "execplan status --state active --sort activity",
        "execplan status --stalled",
    ),
    may_page=True,
)
@plan_argument(default="all plans")
@state_filter_options
@click.option(
    "--stalled", is_flag=True, help="Show only open plans without activity for `stalled_days` days (default: 14)."
)
@click.option(
    "--sort",
    type=click.Choice(_SORT_ORDERS),
    default=_BY_STATE,
    help="Order of the plans: by state (default), latest activity first, highest progress first, or by ID.",
)
@click.option("-n", "--limit", metavar="N", type=click.IntRange(min=1), help="Show at most N plans.")
@option_rules(excludes("PLAN", "--all", "--state", "--stalled", "--sort", "--limit"))
def status(
    call: Call,
    plan: str | None,
    *,
    everything: bool,
    states: tuple[str, ...],
    stalled: bool,
    sort: str,
    limit: int | None,
) -> Answer:
    """Show plans by state, and the next task of each open plan.

    Broken plans come first. Archived plans are only counted; use --all or --state to list them. So are complete plans on
    a terminal, or if there are more than ten, unless there are no others. Exits 1 if a plan is broken.
    """
    is_filtered = bool(everything or states or stalled or limit is not None or sort != _BY_STATE)
    is_named = plan is not None or (not is_filtered and plan_selection.plan_from_environment() is not None)
    if not is_named:
        project = project_discovery.require(os.getcwd())
        plans, locations = with_newest_versions(project, load_listed_plans(project, archive=True))
    else:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
        stored_plan, location = with_newest_version(project, plan_store.load(project, ref))
        plans = [list_stored_plan(stored_plan)]
        locations = {stored_plan.ref.path: location} if location is not None else {}
    plans.sort(key=lambda listed_plan: STATES.index(listed_plan.state))
    activity, resolver = PlanActivity(), PlanResolver(project)
    resolver.add_listed(plans)
    claims_by_path = load_listed_claims(plans)
    listed_states = selected_states(states, everything=everything or is_named)
    rows = [
        _plan_row(
            listed_plan,
            activity,
            resolver,
            claims_by_path.get(listed_plan.ref.path, {}),
            locations.get(listed_plan.ref.path),
        )
        for listed_plan in plans
        if listed_plan.state in listed_states or (listed_plan.ref.path in locations and not states)
    ]
    rows = _sorted_rows([row for row in rows if row.data["stalled"] or not stalled], sort)
    names = name_plans([row.plan for row in rows])
    has_many_complete = [row.data["state"] for row in rows].count(COMPLETE) > _MAX_COMPLETE
    lists_complete = is_named or everything or states or call.as_json
    hides_complete = not lists_complete and (has_many_complete or sys.stdout.isatty())
    listed_rows = _without_complete(rows) if hides_complete else rows
    hidden_count, left_out_count = len(rows) - len(listed_rows), len(listed_rows[limit:]) if limit is not None else 0
    listed_rows = listed_rows[:limit]
    plan_states = [listed_plan.state for listed_plan in plans]
    counts = {state: plan_states.count(state) for state in STATES}
    plan_counts = [f"{count} {state}" for state, count in counts.items() if count and state != DOCUMENT]
    lines = [", ".join(plan_counts) or "no plans yet"]
    advice, advised_row = Advice(), None
    sticky = implied_plan.find_sticky_plan(project)
    if sticky is not None:
        lines.append(f"sticky plan: {sticky[1].id}")
    if rows:
        lines += ["", _status_table(listed_rows, names, sort)]
        lines += worktree_lines([(names[row.plan.ref.path], locations.get(row.plan.ref.path)) for row in listed_rows])
        if left_out_count:
            lines.append(f"and {format_count(left_out_count, 'more plan')}; to list them, increase --limit")
        if hidden_count:
            lines.append(f"and {format_count(hidden_count, 'complete plan')}: execplan status --state complete")
        advice, advised_row = _first_advice(rows, _find_chosen_path(project), with_documents=is_named)
        if not is_named and (commands := _finish_commands(project)):
            advice, advised_row = Advice(commands), None
    elif is_filtered and plans:
        lines += ["", "no plans match"]
        advice = Advice(("execplan status",))
    else:
        lines[0], advice = advise_new_plan(project, lines[0])
    if DOCUMENT not in listed_states and (line := documents_line(plans, "execplan status")):
        lines += ["", line] if not rows else [line]
    work = advice.work
    if work is not None and work.task is not None and len(rows) > 1 and advised_row is not None:
        work = work._replace(description=f"{work.description} of {names[advised_row.plan.ref.path]}")
    data = {
        "states": counts,
        "sticky": sticky[1].id if sticky is not None else None,
        "plans": [row.data for row in listed_rows],
    }
    warnings = listed_conflict_warnings(plans)
    exit_ = CHECK_FAILED if any([row.data["state"] == BROKEN for row in rows]) else OK
    return Answer(data, "\n".join(lines), exit_, warnings=warnings, next_commands=advice.commands, work=work)


class _PlanRow(NamedTuple):
    """A plan with its status."""

    plan: ListedPlan
    data: dict[str, Any]
    """JSON form of the plan, with its next task and whether it is stalled."""
    open_tasks: OpenTasks | None
    """None if the plan is neither a draft nor active."""
    location: PlanLocation | None
    blockers: str
    """What blocks the plan or its first blocked task, for people; empty if nothing does."""
    unknown: str
    """The dependencies in projects that are not known on this machine, for people; empty if there are none."""

    @property
    def last_date(self) -> str:
        """Date of the latest timestamp in the plan, such as 2026-01-31; empty if there is none."""
        return self.plan.facts.last_date

    @property
    def done_fraction(self) -> float:
        """Fraction of the tasks that are done, from 0 to 1."""
        counts = self.data["counts"]
        return counts["done"] / counts["total"] if counts and counts["total"] else 0.0


def _sorted_rows(rows: list[_PlanRow], sort: str) -> list[_PlanRow]:
    """Return rows, which are in the order of states, in another order."""
    if sort == _BY_ACTIVITY:
        return sorted(rows, key=lambda row: row.last_date, reverse=True)
    if sort == _BY_PROGRESS:
        return sorted(rows, key=lambda row: row.done_fraction, reverse=True)
    return sorted(rows, key=lambda row: row.data["id"]) if sort == _BY_ID else rows


def _without_complete(rows: list[_PlanRow]) -> list[_PlanRow]:
    """Return the rows without complete plans that have no unfinished run; all rows if there are no others."""
    return [row for row in rows if row.data["state"] != COMPLETE or row.data["execution"]] or rows


def _find_chosen_path(project: Project) -> str:
    """Return the path of the sticky plan, or else of the plan of the worktree; empty without one."""
    chosen = implied_plan.find_sticky_plan(project)
    ref = chosen[1] if chosen is not None else plan_of_worktree(project)
    return ref.path if ref is not None else ""


def _finish_commands(project: Project) -> tuple[str, ...]:
    """Return the command that finishes the plan of the worktree if it is archived there; none for other plans."""
    ref = plan_of_worktree(project) if implied_plan.find_sticky_plan(project) is None else None
    return finish_archived_commands(plan_store.load(project, ref)) if ref is not None and ref.archived else ()


def _first_advice(rows: list[_PlanRow], chosen_path: str, *, with_documents: bool) -> tuple[Advice, _PlanRow | None]:
    """Return the first advice to do something, in the order in which plans are worked on, with its row.

    `with_documents` is whether a file that is not a plan is to become one. Advice needs the plan itself, so only plans up to the first with advice are read.
    """
    for row in sorted(rows, key=lambda row: work_order(row.plan, row.open_tasks, chosen_path)):
        if (not row.plan.ref.archived or row.location is not None) and (row.plan.state != DOCUMENT or with_documents):
            stored_plan = plan_store.load(row.plan.project, row.plan.ref)
            advice = advise(stored_plan, row.open_tasks, row.data["execution"])
            if advice.commands or advice.work:
                return advice.at(row.location, plan_store.name_in_commands(row.plan.project, row.plan.ref)), row
    return Advice(), None


def _status_table(rows: list[_PlanRow], names: Mapping[str, str], sort: str) -> str:
    cells = [_status_row(row, names[row.plan.ref.path]) for row in rows]
    if sort != _BY_ACTIVITY:
        return format_table(("state", "done", "plan", "next"), cells)
    dated_cells = [(*cell[:2], row.last_date or "-", *cell[2:]) for cell, row in zip(cells, rows, strict=True)]
    return format_table(("state", "done", "activity", "plan", "next"), dated_cells)


def _plan_row(
    plan: ListedPlan,
    activity: PlanActivity,
    resolver: PlanResolver,
    claims_by_task: Mapping[str, Claim],
    location: PlanLocation | None,
) -> _PlanRow:
    """Return a plan with its next task and whether it is stalled."""
    facts = plan.facts
    is_open = plan.state in (ACTIVE, DRAFT)
    open_tasks = find_listed_open_tasks(plan, claims_by_task, resolver) if is_open else None
    plan_data = plan.to_json()
    plan_data["next"] = open_tasks.task if open_tasks is not None else None
    plan_data |= (open_tasks or OpenTasks(None, [], [])).to_json()
    plan_data["stalled"] = is_open and activity.is_stalled_since(
        plan.project, plan.ref.path, facts.last_date, on_hold=lambda: facts.is_on_hold
    )
    plan_data["execution"] = execution_status.status_if_active(plan)
    plan_data["worktree"] = location.to_json() if location is not None else None
    blockers = describe_blockers(open_tasks) if open_tasks is not None else ""
    unknown = describe_unknown(open_tasks) if open_tasks is not None else ""
    return _PlanRow(plan, plan_data, open_tasks, location, blockers, unknown)


def _status_row(row: _PlanRow, name: str) -> tuple[str, str | ProgressCell, str, str]:
    plan_data = row.data
    if plan_data["state"] == BROKEN:
        return BROKEN, "-", name, plan_data["error"]
    counts = plan_data["counts"]
    progress = f"{counts['done']}/{counts['total']}"
    if counts["other"]:
        progress += f" +{counts['other']} other"
    mark = "(stalled) " if plan_data["stalled"] else ""  # first, because a terminal cuts off the end
    text = shorten(_next_task_text(row), _MAX_TASK_LENGTH) + execution_status.status_suffix(plan_data["execution"])
    done = ProgressCell(progress, counts["done"], counts["total"])
    return plan_data["state"], done, name, mark + text


def _next_task_text(row: _PlanRow) -> str:
    plan_data, plan = row.data, row.plan
    if plan.facts.why_document:
        return f"not a plan: {plan.facts.why_document}"
    is_finished = plan.state == COMPLETE and not plan_data["execution"]
    finishing_command = plan.facts.finishing_command if is_finished else ""
    if finishing_command == "archive" and is_plan_of_worktree(plan.project, plan.ref):
        finishing_command = ""  # finishing the worktree archives the plan
    return describe_next_task(
        plan_data["state"], plan_data["next"], plan_data["taken"], finishing_command, row.blockers, row.unknown
    )
