"""Execution of plans: compile, evaluate, approve, run, resume, replan and roll back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan_store.hint_reader import require_person
from execplan.execution.approvals import artifact_store
from execplan.execution.approvals.current_plan import load_current_plan
from execplan.execution.approvals.plan_evaluation import evaluate_plan
from execplan.execution.engine import approval_audit
from execplan.execution.engine import resume as resume_module
from execplan.execution.engine import run as run_module
from execplan.execution.engine.agent_runs import agent_handoff, agent_report
from execplan.execution.engine.recovery import rollback as rollback_module
from execplan.execution.engine.replanning import run_replan
from execplan.execution.engine.resume_preview import preview_resume
from execplan.execution.engine.run_observer import RunObserver, RunOptions
from execplan.execution.engine.run_records import record_builder, run_directories, run_summary
from execplan.execution.engine.run_records.run_summary import find_active_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.approvals.approval_creation import ApprovalResult
    from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
    from execplan.execution.engine.agent_runs.agent_handoff import Handoff
    from execplan.execution.engine.agent_runs.agent_report import ReportOutcome, StepReport
    from execplan.execution.engine.approval_audit import ConfirmApproval
    from execplan.execution.engine.replanning.run_replan import ReplanResult
    from execplan.execution.engine.run_observer import FinishedRun, RollbackResult
    from execplan.execution.engine.run_records.run_summary import RunSummary
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.run_record import Record
    from execplan.library.plan_api import Plan

_DEFAULT = WriteOptions()
_DAY = 24 * 60 * 60


def compile_plan(plan: Plan, *, options: WriteOptions = _DEFAULT) -> ExecutionPlan:
    """Compile a plan and store the result among its artifacts, as `execplan compile` does."""
    project, ref = plan.project, plan.ref
    artifact_store.save(
        project, ref, lambda: load_current_plan(project, ref).data, options, command="compile", summary="compile"
    )
    return load_current_plan(project, ref).document


def evaluate(plan: Plan) -> EvaluatedPlan:
    """Evaluate what a plan would do, and whether it is blocked; nothing is written."""
    return evaluate_plan(plan.project, plan.ref, find_active_run(plan.project, plan.ref))


def approve(
    plan: Plan,
    digest: str | None = None,
    *,
    by: str | None = None,
    valid_seconds: int = _DAY,
    max_risk: str | None = None,
    steps: Sequence[str] = (),
    allow_inferred: bool = False,
    confirm: ConfirmApproval | None = None,
    options: WriteOptions = _DEFAULT,
) -> ApprovalResult:
    """Approve what a plan would do now, for one run with its resumes, as `execplan approve --digest` does.

    `digest` is the digest of the evaluation that was read (`evaluate(plan).binding.digest`), or its first eight digits
    or more; without it, only steps that the policy approves automatically are covered. `max_risk` and `steps` (IDs) limit what is
    covered, `allow_inferred` covers inferred steps. `confirm` asks a person if there is no digest. A named agent can
    only have steps approved that the policy approves.
    """
    return approval_audit.approve(
        plan.project,
        plan.ref,
        digest,
        by=by,
        valid_seconds=valid_seconds,
        max_risk=max_risk,
        steps=steps,
        allow_inferred=allow_inferred,
        confirm=confirm,
        options=options,
    )


def run(
    plan: Plan,
    run_options: RunOptions | None = None,
    observer: RunObserver | None = None,
    *,
    options: WriteOptions = _DEFAULT,
) -> FinishedRun:
    """Run an approved plan to its end; raises ExecplanError if nothing was started.

    `status` of the result says how the run ended. A run that waits for an answer has a `question`; `resume` continues it.
    """
    return run_module.run(plan.project, plan.ref, run_options or RunOptions(), observer or RunObserver(), options)


def resume(
    plan: Plan,
    run: str | None = None,
    *,
    answer: str | None = None,
    observer: RunObserver | None = None,
    options: WriteOptions = _DEFAULT,
    executor: str = "",
) -> FinishedRun:
    """Resume a run (default: the last one); raises ExecplanError if it can't continue.

    `executor` says where commands may run, as in `RunOptions`.
    """
    run_paths = run_directories.find_run(plan.project, plan.ref, run)
    require_person(
        f"execplan resume -p {plan.ref.shell_name}",
        lambda: preview_resume(run_paths, answer),
    )
    return resume_module.resume(run_paths, answer, observer or RunObserver(), options, executor_text=executor)


def replan(
    plan: Plan,
    run: str | None = None,
    *,
    reason: str,
    failed: Sequence[str] = (),
    information: str | None = None,
    options: WriteOptions = _DEFAULT,
) -> ReplanResult:
    """Revise the remaining steps of a run (default: the last one); raises ExecplanError with nothing changed."""
    return run_replan.replan_run(
        run_directories.find_run(plan.project, plan.ref, run),
        reason=reason,
        failed=failed,
        information=information,
        observer=RunObserver(),
        options=options,
    )


def rollback(
    plan: Plan,
    run: str | None = None,
    *,
    step: str | None = None,
    observer: RunObserver | None = None,
    options: WriteOptions = _DEFAULT,
) -> RollbackResult:
    """Undo the changes of a run (default: the last one), or of one of its steps."""
    run_paths = run_directories.find_run(plan.project, plan.ref, run)

    def start(observer: RunObserver, options: WriteOptions) -> RollbackResult:
        return rollback_module.rollback(run_paths, step=step, automatic="", observer=observer, options=options)

    if not options.dry_run:
        preview_options = options._replace(dry_run=True)
        require_person(f"execplan rollback -p {plan.ref.shell_name}", lambda: start(RunObserver(), preview_options))
    return start(observer or RunObserver(), options)


def runs(plan: Plan) -> list[RunSummary]:
    """Return the runs of a plan, the last one first."""
    return run_summary.runs(plan.project, [plan.ref])


def record(plan: Plan, run: str | None = None) -> Record | None:
    """Read the record of a run (default: the last one): each step's result; None if it was killed before that was written."""
    return record_builder.read_record(run_directories.find_run(plan.project, plan.ref, run))


def handoff(plan: Plan) -> Handoff:
    """Describe a plan for an agent that is to run it: its steps, or the open tasks of a plan without steps."""
    return agent_handoff.handoff(plan.project, plan.ref)


def report(plan: Plan, step: str, step_report: StepReport, *, options: WriteOptions = _DEFAULT) -> ReportOutcome:
    """Record the result that an agent reports for a step (ID or number), after checking it."""
    return agent_report.report(plan.project, plan.ref, step, step_report, options)
