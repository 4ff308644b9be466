"""The answer of `show --run`: a run, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import RUN_STYLES, fit_lines, paint
from execplan.cli.output.text_table import format_table
from execplan.cli.run_output.loaded_run import advise_after_run, run_json
from execplan.cli.run_output.run_text import format_changes, format_irreversible, format_rollback_cause
from execplan.core.text.message_parts import format_duration
from execplan.execution import states
from execplan.execution.engine.run_records.record_builder import build_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.cli.run_output.loaded_run import LoadedRun
    from execplan.execution.execution_plan import Step

_APPROVAL_METHODS = {"terminal": "on a terminal", "digest": "with its digest", "policy": "by the policy"}
_OPTIONAL_COLUMNS = ("tries", "exit", "time")


def run_answer(run: LoadedRun) -> Answer:
    """Show the result of a run, step by step."""
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
