"""`show --run`: a run on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import shown
from execplan.cli.running.following import but_show
from execplan.cli.running.one import run_json
from execplan.cli.running.phrases import changed, lasted
from execplan.cli.table import table
from execplan.engine.record import build_record
from execplan.execution import states

if TYPE_CHECKING:
    from execplan.cli.running.one import Run
    from execplan.execution.model import Step

_HOW = {"terminal": "on a terminal", "digest": "by its digest", "policy": "by the policy"}


def shown_run(run: Run) -> Answer:
    """What has become of it, step by step."""
    data = run_json(run)
    data["record"] = build_record(run.place, run.document, run.course).model_dump(mode="json", by_alias=True)
    rows = [_row(run, each, said) for each, said in zip(run.document.steps, data["steps"], strict=True)]
    parts = ["\n".join(_head(run, data)), table(("#", "id", "status", "tries", "time", "exit", "what"), rows, _SPARE)]
    parts += ["\n".join(each) for each in (_details(run), _around(run)) if each]
    return Answer(data, "\n\n".join(parts), next=but_show(run))


_SPARE = ("tries", "exit", "time")


def status_of(run: Run) -> str:
    """How it stands, in words."""
    if run.summary.rolling:
        return "a rollback of it was cut short"
    if run.summary.cut_short:
        return "cut short"
    if run.course.question is not None:
        return "paused"
    return run.course.status.replace("_", " ")


def _head(run: Run, data: dict[str, Any]) -> list[str]:
    """Which run it is, how it stands, who had a hand in it."""
    counts = data["counts"]
    took = f", {lasted(data['seconds'])}" if data["seconds"] is not None else ""
    done = f"{counts['done']} of {counts['total']} steps done{took}"
    who = f"approved by {data['approver']}" if data["approver"] and data["how"] != "policy" else "approved"
    how = _HOW.get(data["how"], "")
    where = (
        "carried out by an agent" if data["agent"] else f"in {data['sandbox']}" if data["sandbox"] else "in no sandbox"
    )
    lines = [
        f"run {run.place.id} of {run.document.plan_id}: {status_of(run)}, {done}",
        " ".join([f"begun {data['started']} by {data['user']},", *filter(None, (who, how))]) + f", {where}",
    ]
    lines += [f"why: {data['reason']}"] if data["reason"] else []
    lines += [f"waits: {run.course.question.words}"] if run.course.question is not None else []
    return [shown(each) for each in lines]


def _row(run: Run, step: Step, said: dict[str, Any]) -> tuple[str, ...]:
    status = "rolled back" if said["rolled_back"] else said["status"].replace("_", " ")
    time = lasted(said["seconds"]) if said["seconds"] is not None else "-"
    ended = f"signal {said['signal']}" if said["signal"] else "-" if said["exit"] is None else str(said["exit"])
    return str(step.number), step.id, status, str(said["attempts"]), time, ended, step.description


def _details(run: Run) -> list[str]:
    """What steps have changed and printed, and why they did not end well."""
    lines = []
    for step in run.document.steps:
        what = changed([change for _, change in run.course.changes(only_step=step.id)])
        has_reason = run.course.status_of[step.id] in states.STATES_WITH_REASON
        said = [run.course.reasons.get(step.id, "") if has_reason else "", what]
        said += [f"ticked {run.course.ticked_tasks[step.id][0]!r}"] if step.id in run.course.ticked_tasks else []
        transcript = run.transcript(step.id)
        told = "; ".join([each for each in said if each])
        if told or transcript:
            lines.append(f"{step.number} {step.id}: {shown(told)}" if told else f"{step.number} {step.id}:")
            lines += [f"  {shown(transcript)}"] if transcript else []
    return lines


def _around(run: Run) -> list[str]:
    """Revisions and rollbacks."""
    lines = [f"revision {each.fields['revision']} since {each.at}: {each.fields['reason']}" for each in run.course.replans]
    for each in run.course.rollbacks:
        said = each.fields
        who = f"by itself ({said['automatic']})" if said["automatic"] else f"by {said['user']}"
        lines.append(f"rolled back {each.at} {who}: {', '.join(said['steps'])}")
        lines += [f"  could not be taken back: {left}" for left in said["undone_not"]]
    return [shown(each) for each in lines]
