"""The `execplan status` command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.advice import execution_status
from execplan.advice.next_tasks import describe_blockers, describe_next_task, describe_unknown, find_open_tasks
from execplan.advice.plan_advice import Advice, advise
from execplan.advice.plan_json import conflict_warnings, plan_json
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.text_table import ProgressCell, format_table
from execplan.cli.output.worktree_output import worktree_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.dependencies.plan_resolver import PlanResolver
from execplan.errors import CHECK_FAILED, OK, USAGE, ExecplanError
from execplan.plan.model import ACTIVE, ARCHIVED, BROKEN, COMPLETE, DRAFT, STATES
from execplan.plan_store import plan_selection, plan_store
from execplan.plan_store.plan_activity import PlanActivity
from execplan.project import project_discovery
from execplan.text.message_parts import format_count
from execplan.worktrees.newest_plans import with_newest_versions

if TYPE_CHECKING:
    from execplan.plan_store.plan_store import StoredPlan
    from execplan.worktrees.plan_location import PlanLocation

_BY_STATE = "state"
_BY_ACTIVITY = "activity"
_BY_PROGRESS = "progress"
_BY_ID = "id"
_SORT_ORDERS = (_BY_STATE, _BY_ACTIVITY, _BY_PROGRESS, _BY_ID)


@define_command(
    reads="every plan, including nested projects, or the named one; execution plans and approvals.",
    writes="nothing.",
    examples=(
        "execplan status",
        "execplan status parser --json",
        "execplan status --state active --sort activity",
        "execplan status --stalled",
    ),
)
@plan_argument(default="all plans")
@click.option(
    "--state",
    "states",
    type=click.Choice(STATES),
    multiple=True,
    help="Show only plans in this state; can be repeated.",
)
@click.option(
    "--stalled", is_flag=True, help="Show only open plans without activity for `stalled_days` days (default: 14)."
)
@click.option(
    "--sort",
    type=click.Choice(_SORT_ORDERS),
    default=_BY_STATE,
    help="Order of the plans: by state (default), latest activity first, highest progress first, or by ID.",
)
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Show at most N plans.")
def status(
    call: Call, plan: str | None, *, states: tuple[str, ...], stalled: bool, sort: str, limit: int | None
) -> Answer:
    """Show plans by state, and the next task of each open plan.

    Broken plans come first. Archived plans are only counted; use --state to list them. On a terminal, this also applies
    to complete plans. Exits 1 if a plan is broken.
    """
    is_filtered = bool(states or stalled or limit is not None or sort != _BY_STATE)
    if plan is not None and is_filtered:
        message = "PLAN can't be combined with --state, --stalled, --sort or --limit"
        raise ExecplanError("usage", message, exit=USAGE, hint="omit one of them")
    is_named = plan is not None or (not is_filtered and plan_selection.plan_from_environment() is not None)
    if not is_named:
        project = project_discovery.require(os.getcwd())
        stored_plans = plan_store.load_with_nested(project, archive=True)
    else:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
        stored_plans = [plan_store.load(project, ref)]
    stored_plans, locations = with_newest_versions(project, stored_plans, includes_new=not is_named)
    stored_plans.sort(key=lambda stored_plan: STATES.index(stored_plan.state))
    activity, resolver = PlanActivity(), PlanResolver(project)
    resolver.add_loaded(stored_plans)
    listed_states = states or [state for state in STATES if is_named or state != ARCHIVED]
    rows = [
        _plan_row(stored_plan, activity, resolver, locations.get(stored_plan.ref.path))
        for stored_plan in stored_plans
        if stored_plan.state in listed_states or (stored_plan.ref.path in locations and not states)
    ]
    rows = _sorted_rows([row for row in rows if row.data["stalled"] or not stalled], sort)
    hides_complete = not (is_named or states or call.as_json) and sys.stdout.isatty()
    listed_rows = _without_complete(rows) if hides_complete else rows
    hidden_count, left_out_count = len(rows) - len(listed_rows), len(listed_rows[limit:]) if limit is not None else 0
    listed_rows = listed_rows[:limit]
    plan_states = [stored_plan.state for stored_plan in stored_plans]
    counts = {state: plan_states.count(state) for state in STATES}
    lines = [", ".join([f"{count} {state}" for state, count in counts.items() if count]) or "no plans yet"]
    advice = Advice(("execplan new 'Title'",))
    if rows:
        name = "path" if len({stored_plan.project.base_path for stored_plan in stored_plans}) > 1 else "id"
        lines += ["", _status_table(listed_rows, name, sort)]
        lines += worktree_lines([(row.data[name], locations.get(row.stored_plan.ref.path)) for row in listed_rows])
        if left_out_count:
            lines.append(f"and {format_count(left_out_count, 'more plan')}; to list them, increase --limit")
        if hidden_count:
            lines.append(f"and {format_count(hidden_count, 'complete plan')}: execplan status --state complete")
        advice = _first_advice(rows)
    elif is_filtered and stored_plans:
        lines += ["", "no plans match"]
        advice = Advice(("execplan status",))
    work = advice.work
    if work is not None and work.task is not None and len(rows) > 1:
        plan_of = next(row.data["id"] for row in rows if row.advice is advice)
        work = work._replace(description=f"{work.description} of {plan_of}")
    data = {"states": counts, "plans": [row.data for row in listed_rows]}
    warnings = conflict_warnings(stored_plans)
    exit_ = CHECK_FAILED if any([row.data["state"] == BROKEN for row in rows]) else OK
    return Answer(data, "\n".join(lines), exit_, warnings=warnings, next_commands=advice.commands, work=work)


class _PlanRow(NamedTuple):
    """A plan with its status."""

    stored_plan: StoredPlan
    data: dict[str, Any]
    """JSON form of the plan, with its next task and whether it is stalled."""
    advice: Advice
    blockers: str
    """What blocks the plan or its first blocked task, for people; empty if nothing does."""
    unknown: str
    """The dependencies in projects that are not known on this machine, for people; empty if there are none."""

    @property
    def last_date(self) -> str:
        """Date of the latest timestamp in the plan, such as 2026-01-31; empty if there is none."""
        from execplan.linter.rules.staleness_rules import latest_date

        return latest_date(self.stored_plan.plan) if self.stored_plan.plan is not None else ""

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


def _first_advice(rows: list[_PlanRow]) -> Advice:
    """Return the first advice to do something, in the order of states; plans that wait for others come last."""
    in_order = sorted(rows, key=lambda row: (bool(row.data["blocked_by"]), STATES.index(row.data["state"])))
    return next((row.advice for row in in_order if row.advice.commands or row.advice.work), Advice())


def _status_table(rows: list[_PlanRow], name: str, sort: str) -> str:
    cells = [_status_row(row, name) for row in rows]
    if sort != _BY_ACTIVITY:
        return format_table(("state", "done", name, "next"), cells)
    dated_cells = [(*cell[:2], row.last_date or "-", *cell[2:]) for cell, row in zip(cells, rows, strict=True)]
    return format_table(("state", "done", "activity", name, "next"), dated_cells)


def _plan_row(
    stored_plan: StoredPlan, activity: PlanActivity, resolver: PlanResolver, location: PlanLocation | None
) -> _PlanRow:
    """Return a plan with its next task and whether it is stalled, and advice on what to do next."""
    plan_data = plan_json(stored_plan)
    plan = stored_plan.plan if stored_plan.state in (ACTIVE, DRAFT) else None
    open_tasks = (
        find_open_tasks(stored_plan.project, stored_plan.ref, plan, resolver=resolver) if plan is not None else None
    )
    plan_data["next"] = open_tasks.task if open_tasks is not None else None
    plan_data["taken"] = open_tasks.claimed_tasks if open_tasks is not None else []
    plan_data["blocked"] = open_tasks.blocked_tasks if open_tasks is not None else []
    plan_data["blocked_by"] = (
        [blocker.to_json() for blocker in open_tasks.plan_blockers] if open_tasks is not None else []
    )
    plan_data["unknown_dependencies"] = list(open_tasks.unknown) if open_tasks is not None else []
    plan_data["stalled"] = plan is not None and activity.is_stalled(stored_plan.project, stored_plan.ref.path, plan)
    plan_data["execution"] = execution_status.status_if_active(stored_plan)
    plan_data["worktree"] = location.to_json() if location is not None else None
    advice = Advice()
    if stored_plan.state != ARCHIVED:
        advice = advise(stored_plan, open_tasks, plan_data["execution"])
        advice = advice.in_directory(location.directory if location is not None else "")
    blockers = describe_blockers(open_tasks) if open_tasks is not None else ""
    unknown = describe_unknown(open_tasks) if open_tasks is not None else ""
    return _PlanRow(stored_plan, plan_data, advice, blockers, unknown)


def _status_row(row: _PlanRow, name: str) -> tuple[str, str | ProgressCell, str, str]:
    plan_data = row.data
    if plan_data["state"] == BROKEN:
        return BROKEN, "-", plan_data[name], plan_data["error"]
    counts = plan_data["counts"]
    progress = f"{counts['done']}/{counts['total']}"
    if counts["other"]:
        progress += f" +{counts['other']} other"
    mark = "(stalled) " if plan_data["stalled"] else ""  # first, because a terminal cuts off the end
    text = _next_task_text(row) + execution_status.status_suffix(plan_data["execution"])
    done = ProgressCell(progress, counts["done"], counts["total"])
    return plan_data["state"], done, plan_data[name], mark + text


def _next_task_text(row: _PlanRow) -> str:
    plan_data, advice = row.data, row.advice
    is_finished = plan_data["state"] == COMPLETE and not plan_data["execution"]
    finishing_command = advice.commands[0].split()[1] if is_finished else ""
    return describe_next_task(
        plan_data["state"], plan_data["next"], plan_data["taken"], finishing_command, row.blockers, row.unknown
    )


status.may_page = True
command = status
