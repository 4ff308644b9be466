"""The handoff of a plan without annotated steps: its open tasks, the relevant sections, and how to record work."""

from __future__ import annotations

from typing import Any, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import claims
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approvals import artifact_store
from execplan.execution.approvals.current_plan import compile_plan_file
from execplan.execution.engine.run_records.run_summary import find_last_begun_run
from execplan.execution.execution_plan import ExecutionPlan, Step

_SECTIONS = (outline.WORK, outline.STEPS, outline.VALIDATION, outline.CONTEXT)
"""Sections that describe how to do the work, most useful first."""


class ProsePlan(NamedTuple):
    """The compilation of a plan without annotated steps."""

    document: ExecutionPlan | None
    """Document with only inferred steps; None if there are none."""


def find_prose_plan(project: Project, ref: PlanRef) -> ProsePlan | None:
    """Compile a plan that is prose: never stored or run, and without annotated steps; None for any other plan.

    Raises ExecplanError.
    """
    if artifact_store.read(project, ref) is not None or find_last_begun_run(project, ref)[0] is not None:
        return None
    document = compile_plan_file(project, ref).document
    if document is None or all([step.inferred for step in document.steps]):
        return ProsePlan(document)
    return None


def list_tasks(project: Project, ref: PlanRef, plan: ParsedPlan, steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    """List the open tasks of a plan in order, with their claimants and their steps. Raises ExecplanError."""
    from execplan.core.plan.plan_lookup import find_task

    claims_by_task = claims.task_claims(project, ref, plan)
    step_by_task: dict[str, str] = {}
    ids = task_ids(plan.tasks)
    for step in steps:
        if step.task:
            try:
                name, _ = find_task(plan, step.task)
            except ExecplanError:
                continue
            step_by_task.setdefault(name, step.id)
    return [
        {
            "number": task.number,
            "id": name,
            "text": task.text,
            "claimed_by": claims_by_task[name].name if name in claims_by_task else None,
            "step": step_by_task.get(name),
        }
        for task, name in zip(plan.tasks, ids, strict=True)
        if task.is_unfinished
    ]


def list_sections(plan: ParsedPlan) -> list[dict[str, str]]:
    """List the sections that describe how to do the work, without placeholder text and empty ones."""
    excerpts = []
    for name in _SECTIONS:
        for section in plan.sections:
            if section.name != name:
                continue
            lines = [
                plan.text.lines[at]
                for at in range(section.body_start, section.content_end)
                if at not in plan.placeholder_lines
            ]
            if text := "\n".join(lines).strip():
                excerpts.append({"title": section.title, "text": text})
    return excerpts


def recording_commands(ref: PlanRef) -> dict[str, str]:
    """Return the commands with which an agent records its work on a task."""
    return {
        "done": f"execplan done TASK -p {ref.shell_name}",
        "discover": f"execplan discover 'What' --evidence 'Proof' -p {ref.shell_name}",
        "decide": f"execplan decide 'What' --why 'Why' -p {ref.shell_name}",
        "add": f"execplan add 'Another task' -p {ref.shell_name}",
        "handoff": f"execplan handoff {ref.shell_name}",
    }
