"""Output of `evaluate` and `approve`: what has changed since a plan was approved."""

from __future__ import annotations

from typing import Any

from execplan.cli.error_handler import printable_line
from execplan.cli.output.evaluation_output import indented_lines
from execplan.cli.output.terminal_layout import fit_line
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approvals.approval_changes import ApprovalChanges, find_changes
from execplan.execution.approvals.plan_evaluation import EvaluatedPlan


def describe_changes(
    project: Project, ref: PlanRef, evaluated_plan: EvaluatedPlan
) -> tuple[str, dict[str, Any] | None]:
    """Return the changes since the newest approval as text and as JSON data; empty and None if there are none.

    If the approvals can't be verified, there are none to compare with: `approve --list` reports why.
    """
    try:
        changes = find_changes(project, ref, evaluated_plan)
    except ExecplanError:
        return "", None
    return ("", None) if changes is None else (_format_changes(changes), changes.as_json())


def _format_changes(changes: ApprovalChanges) -> str:
    approval = changes.approval
    lines = fit_line(f"changed since {approval.approver} approved {approval.digest[:12]}:")
    if changes.steps is None:
        lines += fit_line("  the steps; the approved ones are not kept, so they can't be compared")
    for change in changes.steps or ():
        lines += fit_line(f"  step {change.name}: {change.kind}")
        lines += _diff_lines(change.diff)
    for change in changes.files:
        lines += fit_line(f"  {printable_line(change.name)}: {change.kind}")
        lines += _diff_lines(change.diff)
    lines += [line for text in changes.other for line in fit_line(f"  {printable_line(text)}")]
    return "\n".join(lines)


def _diff_lines(diff: str) -> list[str]:
    """Return the lines of a diff, without the two that name its sides: the line before it does."""
    lines = indented_lines(diff)
    return lines[2:] if diff.startswith("--- ") else lines
