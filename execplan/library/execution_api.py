"""What a Python program uses to have plans run: compiled, evaluated, run, resumed, revised, rolled back; docs/api.md shows it.

Nobody approves from here: that is done by a person at a terminal, by the policy, or by `execplan approve --digest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.approvals import artifact_store
from execplan.approvals.current_plan import load_current_plan
from execplan.approvals.plan_evaluation import EvaluatedPlan, evaluate_plan
from execplan.edits.plan_writer import WriteOptions
from execplan.engine import resume as resume_module
from execplan.engine import run as run_module
from execplan.engine.agent_runs.agent_handoff import Handoff, handoff
from execplan.engine.agent_runs.agent_report import ReportOutcome, StepReport, report
from execplan.engine.recovery import rollback as rollback_module
from execplan.engine.replanning import run_replan
from execplan.engine.replanning.run_replan import ReplanResult
from execplan.engine.run_observer import FinishedRun, RollbackResult, RunObserver, RunOptions
from execplan.engine.run_records import run_directories
from execplan.engine.run_records.record_builder import read_record
from execplan.engine.run_records.run_directories import RunPaths
from execplan.engine.run_records.run_summary import RunSummary, find_active_run, runs
from execplan.execution.run_record import Record
from execplan.plan_store import plan_selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

__all__ = [
    "EvaluatedPlan",
    "FinishedRun",
    "Handoff",
    "Record",
    "ReplanResult",
    "ReportOutcome",
    "RollbackResult",
    "RunObserver",
    "RunOptions",
    "RunPaths",
    "RunSummary",
    "StepReport",
    "WriteOptions",
    "compile_plan",
    "evaluate",
    "handoff",
    "open_plan",
    "record",
    "replan",
    "report",
    "resume",
    "rollback",
    "run",
    "runs",
]


def open_plan(folder: str = ".", name: str | None = None) -> tuple[Project, PlanRef]:
    """The home of a folder and a plan in it, named as on the command line; raises ExecplanError."""
    return plan_selection.select_plan(folder, name)


def compile_plan(project: Project, ref: PlanRef, options: WriteOptions | None = None) -> ExecutionPlan:
    """The execution plan that a plan has now, stored among its artifacts as `compile` does; raises ExecplanError."""
    options = options or WriteOptions()
    artifact_store.save(
        project, ref, lambda: load_current_plan(project, ref).data, options, command="compile", summary="compile"
    )
    return load_current_plan(project, ref).document


def evaluate(project: Project, ref: PlanRef) -> EvaluatedPlan:
    """What a plan would do, and whether it must not run; nothing is written. Raises ExecplanError."""
    return evaluate_plan(project, ref, find_active_run(project, ref))


def run(
    project: Project,
    ref: PlanRef,
    run_options: RunOptions | None = None,
    observer: RunObserver | None = None,
    options: WriteOptions | None = None,
) -> FinishedRun:
    """Run what was approved, and see it to its end; raises ExecplanError where nothing is begun.

    How it ended is told by `status`; a run that waits has a `question`, and goes on by `resume`.
    """
    return run_module.run(
        project, ref, run_options or RunOptions(), observer or RunObserver(), options or WriteOptions()
    )


def resume(
    project: Project,
    ref: PlanRef,
    run: str | None = None,
    *,
    answer: str | None = None,
    observer: RunObserver | None = None,
    options: WriteOptions | None = None,
) -> FinishedRun:
    """Go on with a run, the last one if none is named; raises ExecplanError where it can't go on."""
    return resume_module.resume(
        project,
        ref,
        run_directories.find_run(project, ref, run),
        answer,
        observer or RunObserver(),
        options or WriteOptions(),
    )


def replan(
    project: Project,
    ref: PlanRef,
    run: str | None = None,
    *,
    reason: str,
    failed: Sequence[str] = (),
    information: str | None = None,
    options: WriteOptions | None = None,
) -> ReplanResult:
    """Revise what a run is still to do, the last one if none is named; raises ExecplanError with nothing changed."""
    return run_replan.replan_run(
        project,
        ref,
        run_directories.find_run(project, ref, run),
        reason=reason,
        failed=failed,
        information=information,
        observer=RunObserver(),
        options=options or WriteOptions(),
    )


def rollback(
    project: Project,
    ref: PlanRef,
    run: str | None = None,
    *,
    step: str | None = None,
    observer: RunObserver | None = None,
    options: WriteOptions | None = None,
) -> RollbackResult:
    """Take back what a run has changed, or one of its steps; the last run if none is named. Raises ExecplanError."""
    run_paths = run_directories.find_run(project, ref, run)
    return rollback_module.rollback(
        project,
        ref,
        run_paths,
        step=step,
        automatic="",
        observer=observer or RunObserver(),
        options=options or WriteOptions(),
    )


def record(project: Project, ref: PlanRef, run: str | None = None) -> Record | None:
    """What became of a run, the last one if none is named, None where it was killed before that was written.

    Raises ExecplanError.
    """
    return read_record(run_directories.find_run(project, ref, run))
