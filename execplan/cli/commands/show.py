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
from execplan.cli.output.text_table import format_table
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.run_output.loaded_run import advise_after_run, run_json
from execplan.cli.run_output.run_text import format_changes, format_irreversible, format_rollback_cause
from execplan.core.errors import ErrorContext
from execplan.core.plan.model import ACTIVE, DONE, DRAFT
from execplan.core.plan.plan_lookup import find_section
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.comment_location import has_comments
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.text.message_parts import format_duration
from execplan.execution import states
from execplan.team.advice import execution_status
from execplan.team.advice.advice import Advice
from execplan.team.advice.conflict_warnings import conflict_commands, conflict_warnings
from execplan.team.advice.next_tasks import find_open_tasks
from execplan.team.advice.plan_advice import advise, finish_archived_commands
from execplan.team.advice.plan_json import full_plan_json, plan_json, task_notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.cli.run_output.loaded_run import LoadedRun
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.execution.execution_plan import Step


_APPROVAL_METHODS = {"terminal": "on a terminal", "digest": "with its digest", "policy": "by the policy"}


def run_answer(run: LoadedRun) -> Answer:
    """Show the result of a run, step by step."""
    from execplan.cli.output.terminal_layout import fit_lines
    from execplan.execution.engine.run_records.record_builder import build_record

    data = run_json(run)
    data["record"] = build_record(run.run_paths, run.document, run.run_state).model_dump()
    rows = [_step_row(run, step, step_data) for step, step_data in zip(run.document.steps, data["steps"], strict=True)]
    sections = [
        "\n".join(_header_lines(run, data)),
        format_table(("#", "id", "status", "tries", "time", "exit", "what"), rows, _OPTIONAL_COLUMNS, wraps=True),
    ]
    sections += ["\n".join(fit_lines(*lines)) for lines in (_detail_lines(run), _history_lines(run)) if lines]
    advice = advise_after_run(run, is_shown=True)
    return Answer(data, "\n\n".join(sections), next_commands=advice.commands, work=advice.work)


_OPTIONAL_COLUMNS = ("tries", "exit", "time")


def run_status_text(run: LoadedRun) -> str:
    """Return the state of a run as text."""
    if run.summary.rolling:
        return "its rollback was interrupted"
    if run.summary.cut_short:
        return "interrupted"
    if run.run_state.question is not None:
        return "paused"
    return run.run_state.status.replace("_", " ")


def _header_lines(run: LoadedRun, data: dict[str, Any]) -> list[str]:
    """Return lines with the run, its state, and who approved and performed it."""
    from execplan.cli.output.terminal_layout import RUN_STYLES, fit_lines, paint

    counts = data["counts"]
    duration_text = f", {format_duration(data['seconds'])}" if data["seconds"] is not None else ""
    skipped_text = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    progress = f"{counts['done']} of {counts['total']} steps done{skipped_text}{duration_text}"
    if data["agent"]:
        executor_text = "performed by an agent"
    elif data["sandbox"]:
        executor_text = f"in {data['sandbox']}"
    else:
        executor_text = "without a sandbox"
    executor_text += f", with workers of {data['executor']}" if data["executor"] else ""
    lines = [
        f"run {run.run_paths.id} of {run.document.plan_id}: {run_status_text(run)}, {progress}",
        f"started {data['started']} by {data['user']}, {_approval_text(run.run_state.begin_fields)}, {executor_text}",
    ]
    lines += [f"reason: {data['reason']}"] if data["reason"] else []
    lines += [f"paused: {run.run_state.question.words}"] if run.run_state.question is not None else []
    first_line, *more_lines = fit_lines(*[printable_line(line) for line in lines])
    state_text = run_status_text(run)
    name, separator, progress_text = first_line.partition(f": {state_text},")
    if separator:
        first_line = f"{name}: {paint(state_text, RUN_STYLES.get(state_text, ''))},{progress_text}"
    return [first_line, *more_lines]


def _approval_text(fields: Mapping[str, Any]) -> str:
    """Return who approved the steps, according to the entry of a beginning or a resume."""
    if covered := fields.get("covered_by"):
        return f"all steps were approved by {fields['approver']} as revision {covered['revision']}"
    approver = f"approved by {fields['approver']}" if fields["approver"] and fields["how"] != "policy" else "approved"
    return " ".join(filter(None, (approver, _APPROVAL_METHODS.get(fields["how"], ""))))


def _step_row(run: LoadedRun, step: Step, step_data: dict[str, Any]) -> tuple[str, ...]:
    status = "rolled back" if step_data["rolled_back"] else step_data["status"].replace("_", " ")
    time = format_duration(step_data["seconds"]) if step_data["seconds"] is not None else "-"
    if step_data["signal"]:
        exit_text = f"signal {step_data['signal']}"
    elif step_data["exit"] is None:
        exit_text = "-"
    else:
        exit_text = str(step_data["exit"])
    return str(step.number), step.id, status, str(step_data["attempts"]), time, exit_text, step.description


def _detail_lines(run: LoadedRun) -> list[str]:
    """Return the changes and transcripts of steps, and why they did not succeed."""
    lines = []
    for step in run.document.steps:
        changes = [change for _, change in run.run_state.changes(only_step=step.id)]
        changes_text = format_changes(changes, sorted(run.run_state.created_folders(only_step=step.id)))
        has_reason = run.run_state.status_of[step.id] in states.STATES_WITH_REASON
        attempt = run.last_attempt(step.id)
        worker_text = f"on {attempt.worker}" if attempt is not None and attempt.worker else ""
        notes = [worker_text, run.run_state.reasons.get(step.id, "") if has_reason else "", changes_text]
        if step.id in run.run_state.ticked_tasks:
            notes.append(f"checked off {run.run_state.ticked_tasks[step.id][0]!r}")
        transcript = run.transcript(step.id)
        text = "; ".join([note for note in notes if note])
        if text or transcript:
            lines.append(f"{step.number} {step.id}: {printable_line(text)}" if text else f"{step.number} {step.id}:")
            lines += [f"  {printable_line(transcript)}"] if transcript else []
    return lines


def _history_lines(run: LoadedRun) -> list[str]:
    """Return lines about revisions, their approvals and rollbacks."""
    lines = [
        f"revision {replan.fields['revision']} since {replan.at}: {replan.fields['reason']}"
        for replan in run.run_state.replans
    ]
    lines += [
        f"resumed {entry.at} by {entry.fields['user']}, revision {entry.fields['revision']}: {_approval_text(entry.fields)}"
        for entry in run.run_state.later_approvals
    ]
    for rollback in run.run_state.rollbacks:
        fields = rollback.fields
        cause = fields["automatic"]
        actor = f"automatically because {format_rollback_cause(cause)}" if cause else f"by {fields['user']}"
        lines.append(f"rolled back {rollback.at} {actor}: {', '.join(fields['steps'])}")
        lines += format_irreversible("couldn't be reverted", fields["undone_not"])
    return [printable_line(line) for line in lines]


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
