"""Preview of a run that changes nothing: the steps in order, which ones are skipped and why, and the approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.project.project_discovery import require_existing
from execplan.execution.approvals.approved_plan import require_approved_plan
from execplan.execution.engine.approved_steps import require_approved_steps, select_step_ids
from execplan.execution.engine.command_warnings import command_warnings
from execplan.execution.engine.run_preconditions import ensure_no_unfinished_run, ensure_not_agent_mode
from execplan.execution.engine.schedule import Schedule
from execplan.execution.states import NOT_SELECTED

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approval_document import Approval
    from execplan.execution.engine.run_observer import RunOptions
    from execplan.execution.evaluate import EvaluatedStep
    from execplan.execution.execution_plan import ExecutionPlan


class PredictedStep(NamedTuple):
    """A step with its predicted outcome in a run."""

    evaluated_step: EvaluatedStep
    """The step as evaluated, with its dry run: the exact diff, or why it cannot be predicted."""
    will_run: bool
    reason: str
    """Why the step would not run, or would run only if another step fails; empty if it will run."""


class RunPreview(NamedTuple):
    """A preview of what a run would do."""

    document: ExecutionPlan
    steps: tuple[PredictedStep, ...]
    """All steps, in the order in which they would begin."""
    approval: Approval
    sandbox: str
    """Name of the sandbox that the commands run in; empty without one."""
    sandbox_reason: str
    """Why there is no sandbox."""
    warnings: tuple[str, ...]


def preview_run(project: Project, ref: PlanRef, run_options: RunOptions) -> RunPreview:
    """Preview what `run` would do, without writing anything. Raises ExecplanError if `run` would be refused."""
    from execplan.execution.approvals.plan_evaluation import evaluate_plan
    from execplan.execution.engine.commands.command_sandbox import find_sandbox

    require_existing(project)
    ensure_not_archived(project, ref)
    ensure_no_unfinished_run(project, ref)
    approved_plan = require_approved_plan(project, ref)
    document, policy = approved_plan.document, approved_plan.policy
    ensure_not_agent_mode(document, ref)
    schedule = Schedule(document, select_step_ids(document, run_options), lambda path: False)
    chosen_steps = require_approved_steps(approved_plan, schedule).steps
    if run_options.replays:
        from execplan.execution.engine import replay

        replay.find(project, ref, run_options.replays, approved_plan.binding)
    sandbox, sandbox_reason = find_sandbox(project, policy)
    evaluated_steps = evaluate_plan(project, ref).evaluation.steps
    steps = tuple([_preview_step(evaluated_step, schedule) for evaluated_step in evaluated_steps])
    warnings = (*command_warnings(project, policy, chosen_steps), *schedule.unchosen_dependencies())
    sandbox_name = sandbox.name if sandbox is not None else ""
    return RunPreview(document, steps, approved_plan.approval, sandbox_name, sandbox_reason, warnings)


def _preview_step(evaluated_step: EvaluatedStep, schedule: Schedule) -> PredictedStep:
    """Predict whether a step would run, as far as that can be known."""
    step = evaluated_step.step
    if step.id not in schedule.chosen:
        return PredictedStep(evaluated_step, will_run=False, reason=NOT_SELECTED)
    owners = schedule.alternative_owners(step.id)
    if owners:
        return PredictedStep(
            evaluated_step,
            will_run=False,
            reason=f"it is the alternative to {', '.join(owners)} and runs only if that fails",
        )
    if step.when is not None and step.when.kind == "failed":
        return PredictedStep(evaluated_step, will_run=False, reason=f"it runs only if {step.when.of} fails")
    if evaluated_step.dry_run.is_skipped:
        return PredictedStep(evaluated_step, will_run=False, reason=evaluated_step.dry_run.why)
    return PredictedStep(evaluated_step, will_run=True, reason="")
