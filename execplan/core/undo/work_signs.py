"""Signs that someone has worked on a plan, for which `drop` needs `--force`."""

from __future__ import annotations

from execplan.core.edits.edit_entries import CREATE
from execplan.core.edits.undo_stack import read_stack
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import DRAFT, OPEN
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.author import actor
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest


def signs_of_work(project: Project, ref: PlanRef, data: bytes) -> list[str]:
    """Return all signs that someone has worked on a plan; raises ExecplanError."""
    steps = read_stack(project, ref.path).undoable
    created = [step for step in steps if step.latest.kind == CREATE]
    edits = steps[steps.index(created[-1]) + 1 :] if created else steps
    reasons = [f"edited: {step.operation.summary}" for step in edits]
    if created and not edits and not _is_text_of(created[-1].latest.new_digest, data):
        reasons.append("edited by hand since it was created")
    reasons += [
        f"created by {step.operation.author}"
        for step in created[-1:]
        if step.operation.author not in ("", actor(project))
    ]
    try:
        plan = plan_store.parse(project, data)
    except ExecplanError:
        return [*reasons, "it can't be read as a plan"]
    if plan.state() != DRAFT:
        why = "" if plan.placeholder_lines else ": it has no placeholder text"
        reasons.append(f"it is {plan.state()}, not a draft{why}")
    reasons += [f"task {task.number} is {task.state_label}: {task.text}" for task in plan.tasks if task.state != OPEN]
    logs = (
        ("a decision", "decisions", plan.decisions),
        ("a discovery", "discoveries", plan.discoveries),
        ("an outcome", "outcomes", plan.outcomes),
        ("a revision note", "revision notes", plan.revisions),
    )
    reasons += [
        f"it has {one if len(entries) == 1 else f'{len(entries)} {several}'}"
        for one, several, entries in logs
        if entries
    ]
    return reasons + [
        f"{claim.name} has claimed {task}" for task, claim in claims.task_claims(project, ref, plan).items()
    ]


def _is_text_of(expected_digest: str, data: bytes) -> bool:
    return digest(data) == expected_digest
