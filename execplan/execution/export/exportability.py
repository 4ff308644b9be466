"""Reasons why an approved plan can't run in another engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.execution.binding import bound_paths
from execplan.execution.execution_plan import Type
from execplan.execution.world import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.approved_plan import ApprovedPlan
    from execplan.execution.execution_plan import Step
    from execplan.execution.export.job_partition import Job

MAX_JOBS = 256
"""Limit of jobs in a workflow of GitHub that is generated from one definition."""


def ensure_exportable(
    project: Project, ref: PlanRef, approved_plan: ApprovedPlan, jobs: Sequence[Job], *, uses_checkout: bool
) -> None:
    """Raise ExecplanError if the plan can't be exported; the error lists every reason with its step.

    `uses_checkout` says whether each job begins with a checkout of the commit, which lacks what Git doesn't have.
    """
    reasons = [f"{step.id}: {reason}" for step in approved_plan.document.steps for reason in _step_reasons(step)]
    if uses_checkout:
        reasons += _ignored_inputs(project, approved_plan)
    if len(jobs) > MAX_JOBS:
        reasons.append(f"{ref.id}: it has {len(jobs)} jobs, but a workflow can have only {MAX_JOBS}")
    if reasons:
        raise ExecplanError(
            "not-exportable",
            f"{ref.id} has steps that another engine can't run",
            exit=CHECK_FAILED,
            hint=f"change these steps, approve the plan again, and export it again; or run it here: execplan run {ref.shell_name}",
            candidates=reasons,
            data={"reasons": reasons},
        )


def _step_reasons(step: Step) -> Iterator[str]:
    if step.confirm:
        yield "it asks for confirmation, and nobody can answer there"
    if step.checkpoint:
        yield "it has a checkpoint, which asks whether to continue"
    strategy = step.on_failure.strategy
    if strategy in ("ask", "replan"):
        yield f"on-failure={strategy} needs a person"
    if step.type is Type.TOOL:
        yield f"it uses the tool {step.tool}, which is installed only here"


def _ignored_inputs(project: Project, approved_plan: ApprovedPlan) -> Iterator[str]:
    """Yield the existing files that steps use and that Git ignores, so that a checkout lacks them."""
    from execplan.core.git.git_query import ignored_paths

    ignored = [path.rstrip("/") for path in ignored_paths(project)]
    states = approved_plan.binding.states
    for step in approved_plan.document.steps:
        for path in dict.fromkeys(bound_paths(step)):
            is_ignored = any([path == name or path.startswith(f"{name}/") for name in ignored])
            if is_ignored and states[path].kind != ABSENT:
                yield f"{step.id}: it uses {path}, which Git ignores, so a checkout doesn't contain it"
