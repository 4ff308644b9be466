"""Output of `approve`: the scope of an approval, the prompt, and the status of approvals."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import fit_line, fit_lines
from execplan.cli.output.text_table import format_table
from execplan.cli.plan_hints import denied_commands
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.author import can_ask
from execplan.core.plan_store.hint_reader import ask_person, is_agent
from execplan.core.text.message_parts import format_count
from execplan.execution.approvals.approval_files import StoredApproval
from execplan.execution.evaluation.evaluation_text import describe_origin
from execplan.execution.risk.risk_table import CRITICAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.project.project import Project
    from execplan.execution.approval_document import Approval
    from execplan.execution.approvals.approval_creation import ApprovalResult
    from execplan.execution.approvals.approved_plan import ApprovedPlan, CheckedApproval
    from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
    from execplan.execution.evaluate import EvaluatedStep
    from execplan.execution.evaluation.approval_scope import ApprovalScope

OTHERS_APPROVE = "commit and push the approval; then they approve the plan in their own checkout"
"""What is to do after somebody has approved a plan which others must approve, too."""
_SHOWN_DIGEST_DIGITS = 12
"""Number of hex digits in a suggested command."""


def approve_command(evaluated: EvaluatedPlan, name: str, *, as_json: bool) -> str:
    """Return the command that approves an evaluated plan, for its reader; `name` is already quoted for a shell.

    A person at a terminal is asked. Text that goes elsewhere may be read by an agent, which has to ask a person unless
    the policy approves every step. Another program gets the command with the digest.
    """
    from execplan.execution.evaluation.approval_scope import approval_scope

    covered = approval_scope(evaluated.evaluation, None, None)
    if is_agent() or not as_json:
        command = f"execplan approve {name}"
        needs_person = covered.manual_steps or denied_commands()  # the guard lets no agent approve
        return ask_person(command) if needs_person and (is_agent() or not can_ask()) else command
    return digest_command(name, evaluated.binding.digest[:_SHOWN_DIGEST_DIGITS], covered)


def digest_command(name: str, digest: str, scope: ApprovalScope, options: Sequence[str] = ()) -> str:
    """Return the command that approves the steps in a scope without asking, with more options if they select them."""
    inferred = ("--allow-inferred",) if scope.manual_steps and scope.inferred_steps else ()
    return " ".join([f"execplan approve {name} --digest {digest}", *inferred, *options])


def ask_for_approval(evaluated: EvaluatedPlan, scope: ApprovalScope, warnings: Sequence[str], changes: str) -> None:
    """Show the steps, and the changes since an earlier approval, and ask for approval; raises ExecplanError unless the user approves.

    The user types the name of each CRITICAL step, so that no habit of answering `y` approves one.
    """
    from execplan.cli.output.evaluation_output import evaluation_text
    from execplan.cli.output.terminal_text import printable_text

    count = len(scope.covered)
    subject = "this step" if count == 1 else f"these {count} steps"
    lines = [evaluation_text(evaluated), *(["", changes] if changes else []), *scope_lines(scope, evaluated.path)]
    lines += fit_lines(*[f"warning: {printable_line(warning)}" for warning in warnings])
    print(printable_text("\n".join(lines)), flush=True)
    if not _is_confirmed(f"Approve {subject}?"):
        raise _declined_error("")
    if (unbound := unbound_code(evaluated, scope)) and not _is_confirmed(
        f"The approval doesn't cover {'; '.join(unbound)}. Changes there run without another approval. Approve anyway?"
    ):
        raise _declined_error("")
    confirm_critical_steps(scope)


def confirm_critical_steps(scope: ApprovalScope) -> None:
    """Ask for the name of each CRITICAL step in a scope; raises ExecplanError unless the user types it."""
    for step in scope.covered:
        if step.risk.level == CRITICAL:
            reason = printable_line(step.risk.reasons[0])
            print(f"{step.step.id} is CRITICAL: {reason}. Type its name to approve it: ", end="", flush=True)
            if sys.stdin.readline().strip() != step.step.id:
                raise _declined_error(f": {step.step.id} was not confirmed by its name")


def _is_confirmed(question: str) -> bool:
    """Ask a question, and return whether the answer is yes."""
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def unbound_code(evaluated: EvaluatedPlan, scope: ApprovalScope) -> list[str]:
    """Return the code that the commands of approved steps name and no approval can cover, each with its step and reason.

    None is returned for an agent's plan, in which `guard` checks each command when it is called.
    """
    if evaluated.current_plan.document.mode == "agent":
        return []
    return [f"{step.step.id}: {printable_line(code)}" for step in scope.covered for code in step.code.unbound]


def _declined_error(why: str) -> ExecplanError:
    return ExecplanError("declined", f"nothing was approved{why}", hint="review the plan again: execplan evaluate")


def scope_lines(scope: ApprovalScope, path: str) -> list[str]:
    """Return the lines about the scope that the evaluation does not show."""
    from execplan.execution.approvals.approval_creation import describe_step

    lines = [f"inferred, {printable_line(describe_step(step, path))}" for step in scope.inferred_steps]
    lines += [f"not approved: {uncovered.evaluated.step.id} ({uncovered.why})" for uncovered in scope.uncovered]
    if scope.by_policy and scope.manual_steps:
        lines.append(f"approved by the policy alone: {', '.join(_ids(scope.by_policy))}")
    if scope.finished:
        lines.append(f"done, not run again: {', '.join(_ids(scope.finished))}")
    return ["", *fit_lines(*lines)] if lines else []


def _ids(steps: Sequence[EvaluatedStep]) -> list[str]:
    return [evaluated_step.step.id for evaluated_step in steps]


def approval_answer(
    approval_result: ApprovalResult, next_commands: tuple[str, ...], missing: tuple[str, ...]
) -> Answer:
    """Build the answer of `approve`: the new approval, with the commands after it; in a dry run, the planned one.

    `missing` describes the people who must approve, too.
    """
    approval, evaluated, scope = approval_result.approval, approval_result.evaluated, approval_result.scope
    covered = _ids(scope.covered)
    data: dict[str, Any] = {
        "digest": evaluated.binding.digest,
        "path": approval_result.path,
        "document": approval_result.document_path,
        "changed": True,
        "commit": approval_result.commit,
        **{name: getattr(approval, name, None) for name in ("approver", "how", "approved_at", "expires_at")},
        "steps": covered,
        "inferred": _ids(scope.inferred_steps),
        "by_policy": _ids(scope.by_policy),
        "done": _ids(scope.finished),
        "missing_approvers": list(missing),
        "unbound_code": unbound_code(evaluated, scope),
        "not_covered": [{"id": uncovered.evaluated.step.id, "why": uncovered.why} for uncovered in scope.uncovered],
    }
    count = format_count(len(covered), "step")
    if approval is None:
        lines = fit_line(f"would approve {count} ({', '.join(covered)}): digest {evaluated.binding.digest}")
        lines += [f"would write {path}" for path in (approval_result.document_path, approval_result.path)]
    else:
        until = f"by {approval.approver} until {approval.expires_at}"
        lines = fit_line(f"approved {count} ({', '.join(covered)}) {until}: digest {approval.digest}")
    lines += scope_lines(scope, evaluated.path)[1:]
    lines += fit_lines(*[f"doesn't cover {code}" for code in data["unbound_code"]])
    if origin := describe_origin(evaluated.current_plan.document, is_in_text=evaluated.is_in_text):
        lines.append(origin)
    if missing:
        lines += fit_lines(*[f"not enough approvers: {printable_line(need)}" for need in missing])
        lines += fit_line(OTHERS_APPROVE)
    if approval_result.commit:
        lines.append(f"committed {approval_result.commit[:12]}")
    return Answer(
        data,
        "\n".join(lines),
        warnings=approval_result.warnings,
        next_commands=next_commands if approval else (),
        is_requested=approval is None,
    )


def approvals_answer(project: Project, checked_approvals: Sequence[CheckedApproval]) -> Answer:
    """Build the answer that lists all approvals with their status."""
    rows = []
    for checked_approval in checked_approvals:
        approval = _readable_approval(checked_approval)
        approver, expires_at, coverage = "?", "?", ""
        if approval is not None:
            approver, expires_at, coverage = approval.approver, approval.expires_at, _coverage_text(approval)
        why = "; ".join(filter(None, [coverage, *checked_approval.reasons])) or "-"
        rows.append((checked_approval.state, checked_approval.stored.digest[:12], approver, expires_at, why))
    head = ("state", "digest", "by", "until", "why")
    text = format_table(head, rows, spare=("until", "by"), wraps=True) if rows else "no approvals"
    return Answer(
        {"approvals": [approval_json(project, checked_approval) for checked_approval in checked_approvals]}, text
    )


def _readable_approval(checked_approval: CheckedApproval) -> Approval | None:
    stored = checked_approval.stored
    return stored.approval if isinstance(stored, StoredApproval) else None


def _coverage_text(approval: Approval) -> str:
    """Describe the revision of an approval and the approval that covers it; empty if none does."""
    covering = approval.derived_from
    if covering is None:
        return ""
    return f"revision {approval.revision}, covered by {covering.digest[:12]}, of revision {covering.revision}"


def approval_json(project: Project, checked_approval: CheckedApproval) -> dict[str, Any]:
    """Return the JSON form of an approval and its status."""
    approval = _readable_approval(checked_approval)
    return {
        "digest": checked_approval.stored.digest,
        "path": project.display_path(checked_approval.stored.path),
        "state": checked_approval.state,
        "why": list(checked_approval.reasons),
        **{name: getattr(approval, name, None) for name in _APPROVAL_FIELDS},
        "max_risk": approval.max_risk.value if approval and approval.max_risk else None,
        "steps": list(approval.steps) if approval and approval.steps is not None else None,
        "covered_by": approval.derived_from.digest if approval and approval.derived_from is not None else None,
    }


_APPROVAL_FIELDS = ("approver", "user", "session", "approved_at", "expires_at", "how", "inferred", "revision", "head")


def valid_approval_answer(project: Project, approved_plan: ApprovedPlan) -> Answer:
    """Build the answer that shows a valid approval."""
    approval = approved_plan.approval
    covered = f" ({coverage})" if (coverage := _coverage_text(approval)) else ""
    text = f"approved by {approval.approver} until {approval.expires_at}{covered}: {os.path.relpath(approved_plan.stored.path)}"
    return Answer(approval_json(project, approved_plan), text)
