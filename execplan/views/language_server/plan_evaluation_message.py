"""The evaluation of a plan's steps in a few lines, for the message that an editor shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.core.text.message_parts import format_count
from execplan.execution.approvals.plan_evaluation import evaluate_plan
from execplan.execution.engine.run_records.run_summary import find_active_run

if TYPE_CHECKING:
    from execplan.views.language_server.plan_document import PlanDocument

_MAX_FINDINGS: Final = 5


def evaluation_message(document: PlanDocument) -> tuple[bool, str]:
    """Return whether the steps of the file may run once they are approved, and why. Raises ExecplanError."""
    project, ref = document.project, document.ref
    evaluation = evaluate_plan(project, ref, find_active_run(project, ref)).evaluation
    steps = format_count(len(evaluation.steps), "step")
    verdict = "passed" if evaluation.ok else "blocked"
    lines = [f"Evaluation {verdict}: {steps}, risk {evaluation.risk.level}"]
    for finding in evaluation.findings[:_MAX_FINDINGS]:
        step = f"{finding.step.id}: " if finding.step is not None else ""
        lines.append(f"{finding.level}: {step}{finding.message}")
    if len(evaluation.findings) > _MAX_FINDINGS:
        lines.append(f"and {len(evaluation.findings) - _MAX_FINDINGS} more: execplan evaluate {ref.shell_name}")
    return evaluation.ok, "\n".join(lines)
