"""Checks before a run begins or continues, and setup of its directories, context and first journal entry."""

from __future__ import annotations

import os
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from execplan.approvals import approval_registry, artifact_store
from execplan.engine import program_changes
from execplan.engine.journal.journal_entries import BEGUN, state_json
from execplan.engine.journal.journal_writer import make_redaction
from execplan.engine.permit import issue_permit
from execplan.engine.run_records import evidence_copies, run_directories
from execplan.engine.run_records.run_summary import read_run_entries
from execplan.errors import CHECK_FAILED, CONFLICT, ENVIRONMENT, INPUT, POLICY, ExecplanError
from execplan.execution import states
from execplan.execution.documents.document_io import to_bytes
from execplan.execution.evaluate import effective_risk
from execplan.execution.evaluation.approval_scope import expand_step_id
from execplan.execution.permission import find_approver
from execplan.files import atomic_files, file_access
from execplan.git import git_commit
from execplan.plan_store import author
from execplan.project import project_state
from execplan.text.suggestions import closest_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from execplan.approvals.approval_status import ApprovalCandidate, ApprovalStatus
    from execplan.engine.commands.command_sandbox import Sandbox
    from execplan.engine.journal.journal_writer import JournalWriter
    from execplan.engine.permit import Permit
    from execplan.engine.run_observer import RunObserver, RunOptions
    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.engine.run_state import RunState
    from execplan.engine.schedule import Schedule
    from execplan.engine.steps.run_context import RunContext
    from execplan.execution.approval_document import Approval
    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


def select_step_ids(document: ExecutionPlan, run_options: RunOptions) -> list[str] | None:
    """Return the IDs of the selected steps, or None for all steps. Raises ExecplanError for an unknown step."""
    if run_options.begin:
        first_number = _find_steps(document, run_options.begin)[0].number
        return [step.id for step in document.steps if step.number >= first_number]
    chosen_ids = {step.id for name in run_options.steps for step in _find_steps(document, name)}
    return [step.id for step in document.steps if step.id in chosen_ids] if chosen_ids else None


def _find_steps(document: ExecutionPlan, name: str) -> list[Step]:
    """Return the step with an ID or number, or the steps of a code block with several commands.

    Raises ExecplanError.
    """
    block_ids = expand_step_id([step.id for step in document.steps], name)
    steps = [step for step in document.steps if name in (step.id, str(step.number))] or [
        step for step in document.steps if step.id in block_ids
    ]
    if steps:
        return steps
    known_ids = [step.id for step in document.steps]
    raise ExecplanError(
        "no-such-step",
        f"there is no step {name!r}",
        exit=INPUT,
        hint="name one of these",
        candidates=closest_names(name, known_ids) or known_ids,
    )


def ensure_not_agent_mode(document: ExecutionPlan, ref: PlanRef) -> None:
    """Raise ExecplanError if an agent runs the steps of the document."""
    if document.mode == "agent":
        raise ExecplanError(
            "agent-mode",
            f"the execution plan of {ref.id} has the mode `agent`: its steps are calls of an agent's tools, which nobody runs here",
            exit=INPUT,
            hint=f"an agent carries it out, which is told so by: execplan handoff {ref.shell_name}",
        )


def permit_for(status: ApprovalStatus, schedule: Schedule) -> Permit:
    """Create the permit for the steps of a schedule under the current approval."""
    assert status.candidate is not None  # a plan with an approval always compiles
    assert status.approval is not None
    policy = status.candidate.policy
    levels = {step.id: effective_risk(step, policy).level for step in schedule.steps}
    terms = status.approval.terms(policy.person_from)
    return issue_permit(terms, levels, schedule.order, policy.checkpoint_interval, schedule.path_exists)


def ensure_steps_approved(permit: Permit, approval: Approval, steps: Iterable[Step]) -> None:
    """Raise ExecplanError if one of these steps is not approved."""
    levels = permit.levels
    missing = [
        f"{step.id}: {levels[step.id]}" + (", inferred" if step.inferred else "")
        for step in steps
        if not find_approver(permit.terms, step.id, levels[step.id], inferred=step.inferred)
    ]
    if missing:
        raise ExecplanError(
            "step-not-approved",
            f"{len(missing)} of the steps that would run are not covered by the approval {approval.digest[:12]}",
            exit=POLICY,
            hint="approve them too, or choose others with --step: execplan approve; what a run that has failed did is not approved "
            "again: go on with that, or take it back: execplan resume, execplan rollback",
            candidates=missing,
        )


def ensure_run_programs_unchanged(
    project: Project, ref: PlanRef, run_paths: RunPaths, run_state: RunState, steps: list[Step], policy: Policy
) -> list[str]:
    """Raise ExecplanError if the remaining steps would run different programs than the approved ones.

    If the policy only warns about that, return the differences, one per line.
    """
    differences = program_changes.list_changed_programs(project, run_state, steps)
    if policy.programs == "refuse":
        commands = f"execplan approve {ref.shell_name}; execplan resume {run_paths.number} -p {ref.shell_name}"
        program_changes.ensure_programs_unchanged(
            differences, f"the run {run_paths.id} would run other programs than were approved", commands
        )
    return differences


def ensure_no_unfinished_run(project: Project, ref: PlanRef, run_paths: RunPaths | None = None) -> None:
    """Raise ExecplanError while a run of the plan other than `run_paths` is unfinished and not rolled back."""
    for other_run in run_directories.list_runs(project, ref):
        entries = read_run_entries(other_run)
        if other_run != run_paths and entries:
            status = _run_status(other_run, entries)
            if status not in (states.IN_PROGRESS, states.REPLANNING):
                return
            number = f"{other_run.number} -p {ref.shell_name}"
            if entries[0].fields.get("mode") == "agent":
                raise ExecplanError(
                    "run-under-way",
                    f"an agent carries out {ref.id}: its run {other_run.id} is not at its end",
                    exit=CHECK_FAILED,
                    hint=f"let it go on, or take back what it did: execplan handoff {ref.shell_name}; execplan rollback {number}",
                )
            raise ExecplanError(
                "run-under-way",
                f"the run {other_run.id} of {ref.id} is not at its end: it was paused, interrupted or killed",
                exit=CHECK_FAILED,
                hint=f"go on with it, or take it back: execplan resume {number}; execplan rollback {number}",
            )


def _run_status(run_paths: RunPaths, entries: Any) -> str:
    from execplan.engine.run_records.run_summary import load_run_state

    return load_run_state(run_paths, entries).status


def ensure_same_document(ref: PlanRef, run_paths: RunPaths, run_state: RunState, status: ApprovalStatus) -> None:
    """Raise ExecplanError if the approved document is not the one that the run executes."""
    assert status.candidate is not None  # same as above
    if status.candidate.binding.document != run_state.document_digest:
        raise ExecplanError(
            "other-document",
            f"what is approved now is not what the run {run_paths.id} does: the steps of {ref.id} have changed since",
            exit=CONFLICT,
            hint=f"take it back, and run the new one: execplan rollback {run_paths.number} -p {ref.shell_name}; "
            f"execplan approve {ref.shell_name}; execplan run {ref.shell_name}",
        )


def make_context(
    project: Project,
    ref: PlanRef,
    run_paths: RunPaths,
    candidate: ApprovalCandidate,
    observer: RunObserver,
    seconds: int | None,
) -> RunContext:
    """Create the context that the steps of a run share. Raises ExecplanError."""
    from execplan.engine.commands.command_sandbox import find_sandbox
    from execplan.engine.commands.stop_signal import StopSignal
    from execplan.engine.steps.run_context import RunContext
    from execplan.engine.workspace.backup_store import BackupStore
    from execplan.engine.workspace.workspace_files import WorkspaceFiles

    document, policy = candidate.current_plan.document, candidate.policy
    sandbox = find_sandbox(project, policy)[0]
    limits = [policy.seconds, document.constraints.max_duration_s, seconds]
    deadline = monotonic() + min([limit for limit in limits if limit is not None])
    workspace, store = WorkspaceFiles(project), BackupStore(project)
    run_redaction = make_redaction()
    return RunContext(
        project,
        ref,
        document,
        policy,
        run_paths,
        workspace,
        store,
        sandbox,
        run_redaction,
        StopSignal(),
        observer,
        deadline,
    )


def show_warnings(
    context: RunContext, chosen_ids: Collection[str] | None, program_differences: Iterable[str]
) -> list[str]:
    """Show warnings about the chosen steps (None: all steps), and return those that the observer could not show.

    `program_differences` lists the programs that differ from the approved ones.
    """
    from execplan.engine.command_warnings import command_warnings

    steps = [step for step in context.document.steps if chosen_ids is None or step.id in chosen_ids]
    warnings = [
        *command_warnings(context.project, context.policy, steps),
        *map(program_changes.WARNING.format, program_differences),
    ]
    return [warning for warning in warnings if not context.observer.warn(warning)]


def create_run(project: Project, ref: PlanRef, run_paths: RunPaths, status: ApprovalStatus) -> None:
    """Reserve an approval for a new run, and create its directories with the document and the approval.

    Raises ExecplanError.
    """
    assert status.candidate is not None  # a plan with an approval always compiles
    assert status.approval is not None
    approval_registry.reserve(project, status.approval.id, run_paths.id)
    with add_hint_on_error(
        f"nothing was done, and the approval still holds; begin again: execplan run {ref.shell_name}"
    ):
        atomic_files.make_directory(run_paths.folder, within=project.root)
        atomic_files.create(
            run_paths.artifact_path(artifact_store.PLAN_FILE_NAME),
            status.candidate.current_plan.data,
            within=project.root,
        )
        atomic_files.create(run_paths.approval, to_bytes(status.approval), within=project.root)
        create_state_directory(project, ref, run_paths)


def create_state_directory(project: Project, ref: PlanRef, run_paths: RunPaths) -> None:
    """Create the run's uncommitted state directory with a copy of the evidence, and note which plan the run is of.

    Raises ExecplanError.
    """
    project_state.make_state_dir(project, "runs")
    evidence_copies.copy_evidence(run_paths)
    atomic_files.create(os.path.join(project_state.make_plan_state_dir(project, ref.path), run_paths.id), b"")


def use_approval(project: Project, run_paths: RunPaths, approval: Approval) -> None:
    """Use an approval for the run from now on, and keep its file next to the earlier ones. Raises ExecplanError."""
    approval_registry.mark_used(project, approval.id, run_paths.id)
    data, number, path = to_bytes(approval), 1, run_paths.approval
    while not atomic_files.create(path, data, within=project.root):
        with open(file_access.open_file(path)[0], "rb") as file:
            if file.read() == data:
                break
        number += 1
        path = run_paths.approval.replace(".json", f"-{number}.json")
    evidence_copies.copy_evidence(run_paths)


@contextmanager
def add_hint_on_error(next_steps: str) -> Iterator[None]:
    """Add the next steps to the hint of environment errors, for the time after the problem is fixed."""
    try:
        yield
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            existing_hint = (error.hint or "").removesuffix("nothing was changed").removesuffix("; ")
            error.hint = f"{existing_hint}; {next_steps}" if existing_hint else next_steps
        raise


def add_resume_hint(run_paths: RunPaths, ref: PlanRef) -> AbstractContextManager[None]:
    """Add a hint to environment errors during a run: it can be resumed."""
    return add_hint_on_error(f"then go on: execplan resume {run_paths.number} -p {ref.shell_name}")


def sandbox_name(sandbox: Sandbox | None) -> str:
    """Return the name of the sandbox for journal entries, or an empty string without one."""
    return os.path.basename(sandbox.program) if sandbox is not None else ""


def write_begun_entry(
    journal_writer: JournalWriter,
    context: RunContext,
    status: ApprovalStatus,
    chosen_ids: list[str] | None,
    run_options: RunOptions,
) -> None:
    """Write the first entry of a run; from then on the approval is used by this run alone. Raises ExecplanError."""
    assert status.candidate is not None
    write_first_entry(
        journal_writer,
        context.project,
        context.run_paths,
        status,
        sandbox=sandbox_name(context.sandbox),
        jobs=run_options.jobs,
        chosen=chosen_ids,
        replays=run_options.replays or None,
        states={path: state_json(file_state) for path, file_state in status.candidate.binding.states.items()},
        programs=program_changes.programs_json(status.candidate.binding.programs),
    )


def write_first_entry(
    journal_writer: JournalWriter, project: Project, run_paths: RunPaths, status: ApprovalStatus, **extra_fields: Any
) -> None:
    """Write the first entry of a run with extra fields; from then on the approval is used by this run alone.

    Raises ExecplanError.
    """
    assert status.candidate is not None
    assert status.approval is not None
    binding, document = status.candidate.binding, status.candidate.current_plan.document
    run_fields = {
        "run": run_paths.id,
        "plan_id": document.plan_id,
        "revision": document.revision,
        "document": binding.document,
    }
    journal_writer.write(
        BEGUN,
        **{
            **run_fields,
            **approval_fields(status),
            "policy": binding.policy,
            "head": git_commit.head_commit(project),
            **extra_fields,
        },
    )
    approval_registry.mark_used(project, status.approval.id, run_paths.id)


def approval_fields(status: ApprovalStatus) -> dict[str, Any]:
    """Return the entry fields that name the approval, the approver and the current user."""
    approval = status.approval
    assert approval is not None
    derivation = approval.derived_from
    coverage_fields = (
        {"covered_by": {"approval": derivation.digest, "revision": derivation.revision}}
        if derivation is not None
        else {}
    )
    return {
        "approval": approval.digest,
        "approval_id": approval.id,
        "approver": approval.approver,
        "how": approval.effective_how,
        **coverage_fields,
        "user": author.system_login(),
        "session": author.session_id(),
    }
