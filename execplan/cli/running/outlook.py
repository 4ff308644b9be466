"""`run --dry-run`: what would be run, in which order, and what of it can be known before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.door import shown
from execplan.cli.evaluation import details
from execplan.cli.running.phrases import counted
from execplan.execution.evaluation.told import step_json

if TYPE_CHECKING:
    from execplan.engine.outlook import Outlook, Planned
    from execplan.engine.watch import Chosen


def would_run(found: Outlook, chosen: Chosen, path: str, name: str) -> Answer:
    """The answer of a dry run; the plan's path, and its name as it can be typed."""
    approval, document = found.approval, found.document
    running = [each for each in found.steps if each.runs]
    data: dict[str, Any] = {
        "plan": document.plan_id,
        "revision": document.revision,
        "path": path,
        "approval": approval.digest,
        "approver": approval.approver,
        "expires_at": approval.expires_at,
        "sandbox": found.sandbox or None,
        "no_sandbox": None if found.sandbox else found.why,
        "steps": [{**step_json(each.judged, path), "runs": each.runs, "why": each.why or None} for each in found.steps],
        "changed": False,
    }
    where = f"in {found.sandbox}" if found.sandbox else f"in no sandbox ({found.why})"
    who = "the policy" if approval.how == "policy" else approval.approver
    lines = [f"would run {len(running)} of {counted(len(found.steps), 'step')}, approved by {who}, {where}"]
    parts = ["\n".join(_lines(each, path)) for each in found.steps]
    return Answer(data, "\n\n".join([shown(lines[0]), *parts]), warnings=found.warnings, next=(_follow(chosen, name),))


def _lines(planned: Planned, path: str) -> list[str]:
    """What a step would do, or why it would not be run."""
    if planned.runs:
        return details(planned.judged, path)
    step = planned.judged.step
    return [shown(f"{step.number}. {step.id}: skipped: {planned.why}")]


def _follow(chosen: Chosen, name: str) -> str:
    """The command that does it."""
    flags = [f"--step {each}" for each in chosen.steps] + ([f"--from {chosen.begin}"] if chosen.begin else [])
    flags += [f"--jobs {chosen.jobs}"] if chosen.jobs > 1 else []
    flags += [f"--timeout {chosen.seconds}"] if chosen.seconds else []
    flags += [f"--replay {chosen.replays}"] if chosen.replays else []
    return " ".join(["execplan run", name, *flags])
