"""The `execplan runs` command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.text_table import format_table
from execplan.cli.plan_arguments import plan_argument
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_duration
from execplan.execution.engine.run_records.run_summary import STATES, RunSummary
from execplan.execution.states import REPLANNING


def runs_answer(
    located: Sequence[tuple[Project, PlanRef, RunSummary]], broken: Sequence[str], name: str | None, state: str | None
) -> Answer:
    """Return the runs of one or all plans, and why others can't be read; `name` is the plan's name as given."""
    summaries = [summary for _, _, summary in located]
    exit_, warnings = CHECK_FAILED if broken else OK, tuple(broken)
    audit_commands = ("execplan audit --verify",) if broken else ()
    selected = [summary for summary in summaries if state in (None, summary.state)]
    data = {"runs": [_summary_json(summary) for summary in selected]}
    if not selected:
        if summaries:
            text = f"no {state} runs"
        elif broken:
            text = "no readable runs"
        else:
            text = "no runs yet"
        next_commands = audit_commands if summaries or broken else _first_run_commands(name)
        return Answer(data, text, exit_, warnings=warnings, next_commands=next_commands)
    head = ("state", "run", "plan", "started", "duration", "done", "details")
    spare = ("started", "duration", "done", "plan")
    text = format_table(head, [_summary_row(summary) for summary in selected], spare)
    next_commands = _follow([run for run in located if run[2] in selected])
    return Answer(data, text, exit_, warnings=warnings, next_commands=next_commands + audit_commands)


def _first_run_commands(name: str | None) -> tuple[str, ...]:
    """Return the command that leads to the first run of a plan or, without a name, of the only open plan."""
    try:
        project, ref = plan_selection.select_plan(os.getcwd(), name)
    except ExecplanError as error:  # none or several are open
        return ("execplan status",) if error.code == "ambiguous-plan" else ("execplan explain steps",)
    from execplan.cli.run_output.run_lookup import first_run_command

    return (first_run_command(project, ref),)


def _summary_json(summary: RunSummary) -> dict[str, Any]:
    question = summary.question
    return {
        **summary._asdict(),
        "started": summary.started or None,
        "question": question._asdict() if question is not None else None,
        "rolled_back": list(summary.rolled_back),
        "executor": summary.executor or None,
    }


def _summary_row(summary: RunSummary) -> tuple[str, ...]:
    time = format_duration(summary.seconds) if summary.seconds is not None else "-"
    progress = f"{summary.done}/{summary.total}"
    return summary.state, summary.id, summary.plan, summary.started or "-", time, progress, _state_text(summary)


def _state_text(summary: RunSummary) -> str:
    """Return the details of a run that its state does not show."""
    if summary.rolling:
        return "a rollback was interrupted"
    if summary.question is not None:
        return f"paused: {summary.question.words}"
    if summary.cut_short:
        return "interrupted"
    text = summary.status.replace("_", " ") + (", by an agent" if summary.agent else "")
    is_partial = summary.rolled_back and summary.status != "rolled_back"
    if is_partial:
        return f"{text}, {', '.join(summary.rolled_back)} rolled back"
    return text if text != summary.state.replace("_", " ") else "-"


def _follow(located: Sequence[tuple[Project, PlanRef, RunSummary]]) -> tuple[str, ...]:
    """Return the command that finishes the first paused or interrupted run, or else shows the first run."""
    from execplan.execution.engine.run_records.finishing_commands import finishing_commands
    from execplan.execution.engine.run_records.run_directories import get_run_paths
    from execplan.execution.engine.run_records.run_statuses import read_run_status

    for project, ref, summary in located:
        if summary.rolling or summary.question or summary.cut_short or summary.status == REPLANNING:
            run_status = read_run_status(get_run_paths(project, ref, summary.id))
            return finishing_commands(project, ref, run_status, plan_store.name_in_commands(project, ref))[:1]
    project, ref, summary = located[0]
    return (f"execplan show {plan_store.name_in_commands(project, ref)} --run {summary.id}",)


@define_command(
    reads="the journals of the runs of a plan, or of all plans, including archived plans.",
    writes="nothing.",
    examples=("execplan runs", "execplan runs parser", "execplan runs --state failed --json"),
    may_page=True,
)
@plan_argument(default="all plans")
@click.option("--state", type=click.Choice(STATES), help="Show only runs in this state.")
def runs(call: Call, plan: str | None, *, state: str | None) -> Answer:
    """List runs and their states.

    Each line shows the state of a run, when it started, its duration, and the question it is paused for. Exits 1 if a
    run can't be read.
    """
    from execplan.execution.engine.run_records.run_summary import list_readable_runs

    if plan is not None or plan_selection.plan_from_environment() is not None:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
        plans, name = [(project, ref)], plan
    else:
        members = project_discovery.with_nested_projects(project_discovery.require(os.getcwd()))
        plans, name = [(member, ref) for member in members for ref in plan_store.all_refs(member)], None
    located, broken = [], []
    for project, ref in plans:
        summaries, unreadable = list_readable_runs(project, [ref])
        located += [(project, ref, summary) for summary in summaries]
        broken += unreadable
    return runs_answer(located, broken, name, state)
