"""The evaluation of a plan in its current state, which `evaluate` prints and `approve` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.text.text_lines import digest
from execplan.execution.approvals.current_plan import load_current_plan
from execplan.execution.approvals.disk_world import SnapshotWorld
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.binding import bind
from execplan.execution.evaluate import evaluate

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.current_plan import CurrentPlan
    from execplan.execution.binding import Binding
    from execplan.execution.evaluate import Evaluation
    from execplan.execution.policy import Policy
    from execplan.execution.states import ActiveRun


class EvaluatedPlan(NamedTuple):
    """A plan with its policy, evaluation and binding, before it runs."""

    current_plan: CurrentPlan
    policy: Policy
    evaluation: Evaluation
    binding: Binding
    """Binding that an approval would have now."""
    path: str
    """Path from the root of the file with the steps: the plan, or the stored document if it has no plan source."""
    active_run: ActiveRun | None = None
    """Active run that would continue with exactly this document, if there is one."""


def evaluate_plan(project: Project, ref: PlanRef, active_run: ActiveRun | None = None) -> EvaluatedPlan:
    """Evaluate a plan, given its last run if that may continue. Writes nothing. Raises ExecplanError."""
    current_plan = load_current_plan(project, ref)
    if active_run is not None and active_run.document != digest(current_plan.data):
        active_run = None
    policy, world = effective_policy(project), SnapshotWorld(project)
    evaluation = evaluate(current_plan.document, world, policy, active_run)
    binding = bind(current_plan.data, current_plan.document, world, policy)
    path = project.display_path(ref.path) if current_plan.document.source is not None else current_plan.path
    return EvaluatedPlan(current_plan, policy, evaluation, binding, path, active_run)
