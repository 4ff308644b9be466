"""The evaluation of a plan in its current state, which `evaluate` prints and `approve` shows."""

from __future__ import annotations

from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.execution.approvals.current_plan import CurrentPlan, compile_plan_file, load_current_plan
from execplan.execution.approvals.disk_world import SnapshotWorld
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.binding import Binding, bind
from execplan.execution.evaluate import Evaluation, evaluate
from execplan.execution.execution_plan import ExecutionPlan
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
    is_in_text: bool = False
    """Whether the steps of a revision are those that the plan's text compiles to."""


def evaluate_plan(project: Project, ref: PlanRef, active_run: ActiveRun | None = None) -> EvaluatedPlan:
    """Evaluate a plan, given its last run if that may continue. Writes nothing. Raises ExecplanError."""
    current_plan = load_current_plan(project, ref)
    if active_run is not None and active_run.document != digest(current_plan.data):
        active_run = None
    return evaluate_document(project, ref, current_plan, active_run)


def evaluate_document(
    project: Project, ref: PlanRef, current_plan: CurrentPlan, active_run: ActiveRun | None
) -> EvaluatedPlan:
    """Evaluate a document of a plan, given the run that would continue with it. Writes nothing. Raises ExecplanError.

    What an agent has done of a step is checked when it reports the step, so the step is evaluated as before that.
    """
    policy, world, document = effective_policy(project), SnapshotWorld(project), current_plan.document
    files_before = active_run.files_before if active_run is not None else {}
    evaluation = evaluate(document, SnapshotWorld(project, files_before) if files_before else world, policy, active_run)
    binding = bind(current_plan.data, document, world, policy)
    path = project.display_path(ref.path) if document.source is not None else current_plan.path
    is_in_text = document.revision > 1 and _is_in_text(project, ref, document)
    return EvaluatedPlan(current_plan, policy, evaluation, binding, path, active_run, is_in_text)


def _is_in_text(project: Project, ref: PlanRef, revision: ExecutionPlan) -> bool:
    """Return whether the plan's text compiles to the steps of a revision."""
    try:
        compiled_plan = compile_plan_file(project, ref).document
    except ExecplanError:
        return False
    return compiled_plan is not None and [step.without_place for step in compiled_plan.steps] == [
        step.without_place for step in revision.steps
    ]
