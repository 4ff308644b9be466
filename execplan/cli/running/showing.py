"""`show --run`: a run on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import printable_line
from execplan.cli.running.following import next_commands_without_show
from execplan.cli.running.one import run_json
from execplan.cli.running.phrases import format_changes, format_duration
from execplan.cli.table import format_table
from execplan.engine.record import build_record
from execplan.execution import states

if TYPE_CHECKING:
    from execplan.cli.running.one import LoadedRun
    from execplan.execution.model import Step

_APPROVAL_METHODS = {"terminal": "on a terminal", "digest": "by its digest", "policy": "by the policy"}


def run_answer(run: LoadedRun) -> Answer:
    """What has become of it, step by step."""
    data = run_json(run)
    data["record"] = build_record(run.run_paths, run.document, run.run_state).model_dump(mode="json", by_alias=True)
    rows = [_step_row(run, step, step_data) for step, step_data in zip(run.document.steps, data["steps"], strict=True)]
    sections = ["\n".join(_header_lines(run, data)), format_table(("#", "id", "status", "tries", "time", "exit", "what"), rows, _OPTIONAL_COLUMNS)]
    sections += ["\n".join(lines) for lines in (_detail_lines(run), _history_lines(run)) if lines]
    return Answer(data, "\n\n".join(sections), next_commands=next_commands_without_show(run))


_OPTIONAL_COLUMNS = ("tries", "exit", "time")


def run_status_text(run: LoadedRun) -> str:
    """How it stands, in words."""
    if run.summary.rolling:
        return "a rollback of it was cut short"
    if run.summary.cut_short:
        return "cut short"
    if run.run_state.question is not None:
        return "paused"
    return run.run_state.status.replace("_", " ")


def _header_lines(run: LoadedRun, data: dict[str, Any]) -> list[str]:
    """Which run it is, how it stands, who had a hand in it."""
    counts = data["counts"]
    duration_text = f", {format_duration(data['seconds'])}" if data["seconds"] is not None else ""
    progress = f"{counts['done']} of {counts['total']} steps done{duration_text}"
    approval_text = f"approved by {data['approver']}" if data["approver"] and data["how"] != "policy" else "approved"
    method = _APPROVAL_METHODS.get(data["how"], "")
    executor_text = (
        "carried out by an agent" if data["agent"] else f"in {data['sandbox']}" if data["sandbox"] else "in no sandbox"
    )
    lines = [
        f"run {run.run_paths.id} of {run.document.plan_id}: {run_status_text(run)}, {progress}",
        " ".join([f"begun {data['started']} by {data['user']},", *filter(None, (approval_text, method))]) + f", {executor_text}",
    ]
    lines += [f"why: {data['reason']}"] if data["reason"] else []
    lines += [f"waits: {run.run_state.question.words}"] if run.run_state.question is not None else []
    return [printable_line(line) for line in lines]


def _step_row(run: LoadedRun, step: Step, step_data: dict[str, Any]) -> tuple[str, ...]:
    status = "rolled back" if step_data["rolled_back"] else step_data["status"].replace("_", " ")
    time = format_duration(step_data["seconds"]) if step_data["seconds"] is not None else "-"
    exit_text = f"signal {step_data['signal']}" if step_data["signal"] else "-" if step_data["exit"] is None else str(step_data["exit"])
    return str(step.number), step.id, status, str(step_data["attempts"]), time, exit_text, step.description


def _detail_lines(run: LoadedRun) -> list[str]:
    """What steps have changed and printed, and why they did not end well."""
    lines = []
    for step in run.document.steps:
        changes_text = format_changes([change for _, change in run.run_state.changes(only_step=step.id)])
        has_reason = run.run_state.status_of[step.id] in states.STATES_WITH_REASON
        notes = [run.run_state.reasons.get(step.id, "") if has_reason else "", changes_text]
        notes += [f"ticked {run.run_state.ticked_tasks[step.id][0]!r}"] if step.id in run.run_state.ticked_tasks else []
        transcript = run.transcript(step.id)
        text = "; ".join([note for note in notes if note])
        if text or transcript:
            lines.append(f"{step.number} {step.id}: {printable_line(text)}" if text else f"{step.number} {step.id}:")
            lines += [f"  {printable_line(transcript)}"] if transcript else []
    return lines


def _history_lines(run: LoadedRun) -> list[str]:
    """Revisions and rollbacks."""
    lines = [f"revision {replan.fields['revision']} since {replan.at}: {replan.fields['reason']}" for replan in run.run_state.replans]
    for rollback in run.run_state.rollbacks:
        fields = rollback.fields
        actor = f"by itself ({fields['automatic']})" if fields["automatic"] else f"by {fields['user']}"
        lines.append(f"rolled back {rollback.at} {actor}: {', '.join(fields['steps'])}")
        lines += [f"  could not be taken back: {failure}" for failure in fields["undone_not"]]
    return [printable_line(line) for line in lines]
