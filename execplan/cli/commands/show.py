"""The `execplan show` command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command
from execplan.cli.error_handler import printable_line
from execplan.cli.option_rules import exclusive, option_rules
from execplan.cli.output.plan_page import entry_summaries
from execplan.cli.plan_arguments import plan_argument
from execplan.core.errors import ErrorContext
from execplan.core.plan.model import ACTIVE, DONE, DRAFT
from execplan.core.plan.plan_lookup import find_section
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.comment_location import has_comments
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.team.advice import execution_status
from execplan.team.advice.advice import Advice
from execplan.team.advice.conflict_warnings import conflict_commands, conflict_warnings
from execplan.team.advice.next_tasks import find_open_tasks
from execplan.team.advice.plan_advice import advise, finish_archived_commands
from execplan.team.advice.plan_json import full_plan_json, plan_json, task_notes

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import StoredPlan


@define_command(
    reads="the plan and its comments; with --steps, its execution plan and approvals in its artifacts; with --run, that run.",
    writes="nothing.",
    examples=(
        "execplan show",
        "execplan show parser --json",
        "execplan show parser --section 'Decision Log'",
        "execplan show parser --steps",
        "execplan show parser --run 1",
        "execplan show parser --comments",
    ),
    may_page=True,
)
@plan_argument()
@click.option(
    "--section",
    metavar="NAME",
    shell_complete=complete_with("section"),
    help="Print only this section, exactly as in the file.",
)
@click.option("--steps", is_flag=True, help="Show the plan's compiled steps and their status.")
@click.option(
    "--run", metavar="[RUN]", is_flag=False, flag_value="", help="Show a run step by step. Default: the last run."
)
@click.option("--comments", is_flag=True, help="Show all review comments, also the resolved ones.")
@option_rules(exclusive("--section", "--steps", "--run", "--comments"))
def show(call: Call, plan: str | None, section: str | None, steps: bool, run: str | None, comments: bool) -> Answer:
    """Show a plan at a glance, or one of its sections.

    Shows the plan's state, its tasks with their numbers and IDs, its decisions and its open review comments. Options
    show a section, the steps, a run or all comments instead.
    """
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    if run is not None:
        from execplan.cli.run_output.loaded_run import load_run
        from execplan.cli.run_output.run_answer import run_answer
        from execplan.cli.run_output.run_lookup import find_run

        return run_answer(load_run(find_run(project, ref, run or None)))
    stored_plan = plan_store.load(project, ref)
    parsed_plan = stored_plan.require_plan()
    warnings = conflict_warnings([stored_plan])
    if section is not None:
        with ErrorContext(project.display_path(ref.path)):
            found_section = find_section(parsed_plan, section)
        start, end = found_section.start, found_section.notes_start
        lines = zip(parsed_plan.text.lines[start:end], parsed_plan.text.ends[start:end], strict=True)
        text = "".join([line + line_end for line, line_end in lines])
        names = {"section": found_section.title, "name": found_section.name}
        section_range = {"line_start": start + 1, "line_end": end}
        data = {**plan_json(stored_plan), **names, **section_range, "text": text}
        return Answer(data, text, warnings=warnings, next_commands=conflict_commands([stored_plan]))
    if steps:
        from execplan.cli.output.steps_output import steps_answer

        return steps_answer(stored_plan, warnings)
    if comments:
        from execplan.cli.output.comment_output import comments_answer

        return comments_answer(stored_plan, parsed_plan, warnings)
    data = full_plan_json(stored_plan, parsed_plan)
    comment_lines, comment_warnings = _add_comments(data, stored_plan, parsed_plan)
    execution = execution_status.status_if_readable(stored_plan)
    open_tasks = find_open_tasks(project, ref, parsed_plan) if stored_plan.state in (ACTIVE, DRAFT) else None
    claimed_tasks = {task["id"]: task for task in open_tasks.claimed_tasks} if open_tasks is not None else {}
    data["tasks"] = [claimed_tasks.get(task["id"], task) for task in data["tasks"]]
    advice = (
        Advice(finish_archived_commands(stored_plan)) if ref.archived else advise(stored_plan, open_tasks, execution)
    )
    if ref.archived:
        data["run"] = execution_status.find_open_run(project, ref)
    else:
        data["run"] = execution_status.unfinished_run(execution)
    this_command = f"execplan show {quote_plan_name(ref.id, data['path'])}"
    commands = tuple([command for command in advice.commands if command != this_command])
    text = _plan_text(data, parsed_plan, advice.why, execution)
    return Answer(
        data,
        "\n\n".join([text, "\n".join(comment_lines)]) if comment_lines else text,
        warnings=(*warnings, *comment_warnings),
        next_commands=commands,
        work=advice.work,
    )


def _add_comments(
    data: dict[str, Any], stored_plan: StoredPlan, parsed_plan: ParsedPlan
) -> tuple[list[str], tuple[str, ...]]:
    """Add the comments to the plan's data, and return the lines about open ones, and warnings."""
    data["comments"] = []
    if not has_comments(stored_plan.project, stored_plan.ref):
        return [], ()
    from execplan.cli.output.comment_output import add_comments

    return add_comments(data, stored_plan, parsed_plan)


def _plan_text(data: dict[str, Any], parsed_plan: ParsedPlan, why: str, execution: dict[str, Any] | None) -> str:
    """Show a plan at a glance; on a terminal, also its purpose, progress, last activity and last run."""
    if sys.stdout.isatty():
        from execplan.cli.output.plan_page import plan_page
        from execplan.cli.output.terminal_layout import is_terminal

        if is_terminal():
            return plan_page(data, parsed_plan, why, execution)
    approval = execution["state"] if execution is not None else execution_status.NOT_COMPILED
    return _plain_plan_text(data, parsed_plan.other_states_text, why, approval)


def _plain_plan_text(data: dict[str, Any], other_states: str, why: str, approval: str) -> str:
    """Show a plan at a glance, without a layout; `other_states` are its tasks that are neither open nor done."""
    tasks, counts = data["tasks"], data["counts"]
    progress = ", ".join(filter(None, [f"{counts['done']} of {counts['total']} tasks done", other_states]))
    lines = [
        data["title"] or "(no title)",
        f"{printable_line(data['path'])}: {data['state']}, {progress}",
    ]
    if data["run"] is not None:
        lines.append(execution_status.open_run_text(data["run"], approval))
    lines += [printable_line(why)] if why else []
    if tasks:
        lines.append("")
    for task in tasks:
        lead = "  " * task["depth"]
        notes = task_notes(task)
        lines.append(f"{task['number']:>3}. {lead}[{task['mark']}] {task['text']}{notes}")
        if task["check"] and task["state"] != DONE:
            lines.append(f"     {lead}    check: {task['check']}")
    for heading, last_entry in entry_summaries(data):
        lines += ["", heading, f"  {last_entry}"]
    return "\n".join(lines)
