"""`run --dry-run`: what would be run, in which order, and what of it can be known before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import shown
from execplan.cli.running.phrases import counted
from execplan.execution.evaluation.told import describe_commands, step_json

if TYPE_CHECKING:
    from execplan.engine.outlook import RunPreview, PlannedStep
    from execplan.engine.watch import RunOptions


def would_run(found: RunPreview, chosen: RunOptions, path: str, name: str) -> Answer:
    """The answer of a dry run; the plan's path, and its name as it can be typed."""
    approval, document = found.approval, found.document
    running = [each for each in found.steps if each.will_run]
    data: dict[str, Any] = {
        "plan": document.plan_id,
        "revision": document.revision,
        "path": path,
        "approval": approval.digest,
        "approver": approval.approver,
        "expires_at": approval.expires_at,
        "sandbox": found.sandbox or None,
        "no_sandbox": None if found.sandbox else found.sandbox_reason,
        "steps": [{**step_json(each.evaluated_step, path), "runs": each.will_run, "why": each.reason or None} for each in found.steps],
        "changed": False,
    }
    where = f"in {found.sandbox}" if found.sandbox else f"in no sandbox ({found.sandbox_reason})"
    who = "the policy" if approval.how == "policy" else approval.approver
    lines = [f"would run {len(running)} of {counted(len(found.steps), 'step')}, approved by {who}, {where}"]
    lines += [line for each in found.steps for line in _lines(each)]
    lines.append(f"the changes, the risk and the findings of each step: execplan evaluate {name}")
    text = "\n".join([shown(line) for line in lines])
    return Answer(data, text, warnings=found.warnings, next=(_follow(chosen, name),))


def _lines(planned: PlannedStep) -> list[str]:
    """A step in the order of the run: what it does and its commands, or why it is skipped."""
    step = planned.evaluated_step.step
    if not planned.will_run:
        return [f"{step.number} {step.id}: skipped: {planned.reason}"]
    lines = [f"{step.number} {step.id}: {step.description}"]
    for what, command in describe_commands(step):
        count = command.strip("\n").count("\n") + 1
        lines.append(f"  {what}: {command}" if count == 1 else f"  {what}: {counted(count, 'line')}")
    return lines


def _follow(chosen: RunOptions, name: str) -> str:
    """The command that does it."""
    flags = [f"--step {each}" for each in chosen.steps] + ([f"--from {chosen.begin}"] if chosen.begin else [])
    flags += [f"--jobs {chosen.jobs}"] if chosen.jobs > 1 else []
    flags += [f"--timeout {chosen.seconds}"] if chosen.seconds else []
    flags += [f"--replay {chosen.replays}"] if chosen.replays else []
    return " ".join(["execplan run", name, *flags])
