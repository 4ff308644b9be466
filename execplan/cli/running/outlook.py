"""`run --dry-run`: what would be run, in which order, and what of it can be known before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import printable_line
from execplan.cli.running.phrases import pluralize
from execplan.execution.evaluation.told import describe_commands, step_json

if TYPE_CHECKING:
    from execplan.engine.outlook import RunPreview, PlannedStep
    from execplan.engine.watch import RunOptions


def dry_run_answer(preview: RunPreview, run_options: RunOptions, path: str, name: str) -> Answer:
    """The answer of a dry run; the plan's path, and its name as it can be typed."""
    approval, document = preview.approval, preview.document
    running_steps = [planned_step for planned_step in preview.steps if planned_step.will_run]
    data: dict[str, Any] = {
        "plan": document.plan_id,
        "revision": document.revision,
        "path": path,
        "approval": approval.digest,
        "approver": approval.approver,
        "expires_at": approval.expires_at,
        "sandbox": preview.sandbox or None,
        "no_sandbox": None if preview.sandbox else preview.sandbox_reason,
        "steps": [{**step_json(planned_step.evaluated_step, path), "runs": planned_step.will_run, "why": planned_step.reason or None} for planned_step in preview.steps],
        "changed": False,
    }
    sandbox_text = f"in {preview.sandbox}" if preview.sandbox else f"in no sandbox ({preview.sandbox_reason})"
    approver = "the policy" if approval.how == "policy" else approval.approver
    lines = [f"would run {len(running_steps)} of {pluralize(len(preview.steps), 'step')}, approved by {approver}, {sandbox_text}"]
    lines += [line for planned_step in preview.steps for line in _step_lines(planned_step)]
    lines.append(f"the changes, the risk and the findings of each step: execplan evaluate {name}")
    text = "\n".join([printable_line(line) for line in lines])
    return Answer(data, text, warnings=preview.warnings, next_commands=(_run_command(run_options, name),))


def _step_lines(planned_step: PlannedStep) -> list[str]:
    """A step in the order of the run: what it does and its commands, or why it is skipped."""
    step = planned_step.evaluated_step.step
    if not planned_step.will_run:
        return [f"{step.number} {step.id}: skipped: {planned_step.reason}"]
    lines = [f"{step.number} {step.id}: {step.description}"]
    for label, command_text in describe_commands(step):
        count = command_text.strip("\n").count("\n") + 1
        lines.append(f"  {label}: {command_text}" if count == 1 else f"  {label}: {pluralize(count, 'line')}")
    return lines


def _run_command(run_options: RunOptions, name: str) -> str:
    """The command that does it."""
    flags = [f"--step {step_id}" for step_id in run_options.steps] + ([f"--from {run_options.begin}"] if run_options.begin else [])
    flags += [f"--jobs {run_options.jobs}"] if run_options.jobs > 1 else []
    flags += [f"--timeout {run_options.seconds}"] if run_options.seconds else []
    flags += [f"--replay {run_options.replays}"] if run_options.replays else []
    return " ".join(["execplan run", name, *flags])
