"""The policy setting `require_checks`: a task with a check is done only after the check has passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import POLICY, ExecplanError
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import find_task
from execplan.core.plan.task_checks import has_checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def ensure_unchecked(project: Project, ref: PlanRef, plan: ParsedPlan, queries: Sequence[str]) -> None:
    """Raise ExecplanError if the policy requires checks, and one of the tasks is not done and has a check."""
    if not is_required(project, plan):
        return
    from execplan.execution.acceptance_check import find_acceptance_checks

    tasks = [task for _, task in [find_task(plan, query) for query in queries] if task.state != DONE]
    checks = [
        check
        for check in find_acceptance_checks(plan, ref.id, project.display_path(ref.path), tasks)
        if check is not None
    ]
    if checks:
        ids = " ".join([check.task_id for check in checks])
        raise ExecplanError(
            "check-required",
            f"the policy requires that the check passes before {checks[0].task_id} is done: {checks[0].command}",
            exit=POLICY,
            hint=f"execplan done {ids} --verify -p {ref.shell_name}",
        )


def is_required(project: Project, plan: ParsedPlan) -> bool:
    """Return whether the policy requires checks, and the plan may have some. Raises ExecplanError for bad settings."""
    if not has_checks(plan) and not any(["task=" in line for line in plan.text.lines]):
        return False
    from execplan.execution.approvals.effective_policy import effective_policy

    return effective_policy(project).require_checks
