"""Run of an execution plan: executes the approved steps one by one, and nothing else; also its preview."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from execplan.core import features
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.errors import ExecplanError
from execplan.core.project.project_discovery import require_existing
from execplan.execution.approvals.approved_plan import require_approved_plan
from execplan.execution.engine import replay, run_preconditions, run_setup
from execplan.execution.engine.approved_steps import require_approved_steps, select_step_ids
from execplan.execution.engine.command_warnings import command_warnings, uncommitted_warnings
from execplan.execution.engine.executors.executor_choice import default_jobs, executor_field, open_executor
from execplan.execution.engine.journal.journal_entries import state_json
from execplan.execution.engine.resume import continue_with_revision
from execplan.execution.engine.run_lock import acquire_run_lock
from execplan.execution.engine.run_loop import finish_loop, open_loop
from execplan.execution.engine.run_preconditions import (
    ensure_no_unfinished_run,
    ensure_not_agent_mode,
    ensure_not_remainder_approval,
    explain_used_approval,
)
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_session import start_session
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_executor import StepExecutor
from execplan.execution.engine.telemetry.span_sending import send_spans
from execplan.execution.program_lookup import describe_changed_programs
from execplan.execution.states import NOT_SELECTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approval_document import Approval
    from execplan.execution.approvals.approved_plan import ApprovedPlan
    from execplan.execution.engine.approved_steps import ApprovedSteps
    from execplan.execution.engine.replay import ReplayedRun
    from execplan.execution.engine.run_observer import FinishedRun, RunObserver, RunOptions
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_session import RunSession
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.evaluate import EvaluatedStep
    from execplan.execution.execution_plan import ExecutionPlan


__all__ = ["preview_run", "run"]


def run(
    project: Project,
    ref: PlanRef,
    run_options: RunOptions,
    observer: RunObserver,
    options: WriteOptions,
    *,
    executor: StepExecutor | None = None,
) -> FinishedRun:
    """Run the execution plan of a plan, if approved. Raises ExecplanError if nothing was begun, or if a disk fails."""
    require_existing(project)
    ensure_not_archived(project, ref)
    options.prepare_commit(project)
    features.load(features.LOST_EVIDENCE)(project, ref, observer)
    run_paths = run_directories.next_run(project, ref)
    with acquire_run_lock(project, f"run {run_paths.id} of {ref.id}"), ExitStack() as stack:
        _ensure_not_overtaken(run_paths)
        new_run = _prepare_run(run_paths, run_options, observer, executor or StepExecutor())
        remote = stack.enter_context(open_executor(run_options.executor))
        step_executor = executor or StepExecutor(remote)
        new_run.warnings.extend(_executor_warnings(new_run, run_options.executor))
        new_run = new_run._replace(jobs=run_options.jobs or default_jobs(remote), executor=run_options.executor)
        with _begin_run(new_run, options) as session:
            with open_loop(session, new_run.context, new_run.approved_steps, step_executor, new_run.jobs) as loop:
                finished = finish_loop(session, loop, loop.run_until_stopped(), new_run.warnings)
            finished = continue_with_revision(session, finished, loop.attempt_pool)
        finished = _compare_with_replayed_run(finished, new_run.replayed_run, session.journal_writer.run_state)
    trace_warnings = send_spans(run_paths, session.journal_writer)
    return finished._replace(warnings=(*finished.warnings, *trace_warnings))


def _ensure_not_overtaken(run_paths: RunPaths) -> None:
    """Raise ExecplanError if another run of the plan began after `run_paths` was numbered and before the lock."""
    ref = run_paths.ref
    if run_directories.next_run(run_paths.project, ref).number != run_paths.number:
        message = f"another run of {ref.id} was started at the same time"
        raise ExecplanError("run-busy", message, hint=f"see its status: execplan runs {ref.shell_name}")
    ensure_no_unfinished_run(run_paths.project, ref)


class _NewRun(NamedTuple):
    """A run that passed all checks and may begin."""

    approved_plan: ApprovedPlan
    approved_steps: ApprovedSteps
    context: RunContext
    chosen_ids: list[str] | None
    """IDs of the steps to run; None for all."""
    jobs: int
    executor: str
    """What `--executor` names; empty if all steps run here."""
    replayed_run: ReplayedRun | None
    warnings: list[str]
    """Warnings that the observer could not show."""


def _prepare_run(
    run_paths: RunPaths, run_options: RunOptions, observer: RunObserver, executor: StepExecutor
) -> _NewRun:
    """Check everything that a run requires, and show warnings. Raises ExecplanError."""
    project, ref = run_paths.project, run_paths.ref
    try:
        approved_plan = require_approved_plan(project, ref, steps_before=run_options.done_before)
    except ExecplanError as error:
        raise explain_used_approval(project, ref, error) from None
    ensure_not_remainder_approval(project, ref, approved_plan.approval)
    document, binding = approved_plan.document, approved_plan.binding
    ensure_not_agent_mode(document, ref)
    chosen_ids = select_step_ids(document, run_options)
    replayed_run = replay.find(project, ref, run_options.replays, binding) if run_options.replays else None
    context = run_setup.make_context(run_paths, approved_plan, observer, run_options.seconds)
    schedule = Schedule(document, chosen_ids, lambda path: executor.path_exists(context, path))
    approved_steps = require_approved_steps(approved_plan, schedule)
    differences = describe_changed_programs(approved_plan.approval.binding.programs or {}, binding.programs or {})
    warnings = run_setup.show_warnings(context, approved_steps.steps, differences)
    tree_warnings = uncommitted_warnings(project, approved_plan.policy, approved_steps.steps)
    warnings += [warning for warning in tree_warnings if not observer.warn(warning)]
    warnings += schedule.unchosen_dependencies(run_options.done_before)
    return _NewRun(approved_plan, approved_steps, context, chosen_ids, 1, "", replayed_run, warnings)


def _executor_warnings(new_run: _NewRun, executor_text: str) -> list[str]:
    """Return a warning if an executor is named and no step may run on its workers."""
    if not executor_text:
        return []
    from execplan.execution.engine.executors.ticket_creation import reason_to_stay

    if not all([reason_to_stay(step, new_run.context.document) for step in new_run.approved_steps.steps]):
        return []
    warning = "all steps run here: only commands that declare inputs and outputs run on workers"
    return [] if new_run.context.observer.warn(warning) else [warning]


@contextmanager
def _begin_run(new_run: _NewRun, options: WriteOptions) -> Iterator[RunSession]:
    """Create the directories and the journal of a run and write its first entry. Raises ExecplanError."""
    context, approved_plan = new_run.context, new_run.approved_plan
    run_paths, observer = context.run_paths, context.observer
    with run_setup.open_new_run(run_paths, approved_plan, observer) as journal_writer:
        session = start_session(run_paths, approved_plan.policy, journal_writer, options)
        observer.begin(run_paths.id, new_run.approved_steps.steps)
        run_setup.write_first_entry(
            journal_writer,
            run_paths,
            approved_plan,
            sandbox=context.sandbox.name if context.sandbox is not None else "",
            jobs=new_run.jobs,
            chosen=new_run.chosen_ids,
            replays=new_run.replayed_run.run_paths.id if new_run.replayed_run is not None else None,
            states={path: state_json(file_state) for path, file_state in approved_plan.binding.states.items()},
            programs=run_preconditions.programs_json(approved_plan.binding.programs),
            **executor_field(new_run.executor),
        )
        yield session


def _compare_with_replayed_run(
    finished: FinishedRun, replayed_run: ReplayedRun | None, run_state: RunState
) -> FinishedRun:
    if replayed_run is None:
        return finished
    return finished._replace(differences=replay.differences(replayed_run.run_state, run_state))


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
    warnings = (
        *command_warnings(project, policy, chosen_steps),
        *uncommitted_warnings(project, policy, chosen_steps),
        *schedule.unchosen_dependencies(),
    )
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
