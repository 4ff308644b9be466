"""Checks before a run begins or continues: the mode, other runs of the plan, the document, and the programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import CHECK_FAILED, CONFLICT, INPUT, ExecplanError
from execplan.execution import states
from execplan.execution.engine import program_changes
from execplan.execution.engine.error_hints import format_replan_command, format_resume_command
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_records.run_summary import load_run_state, read_run_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.approved_plan import ApprovedPlan
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.run_state import RunState
    from execplan.execution.execution_plan import ExecutionPlan, Step


def ensure_not_agent_mode(document: ExecutionPlan, ref: PlanRef) -> None:
    """Raise ExecplanError if an agent runs the steps of the document."""
    if document.mode == "agent":
        raise ExecplanError(
            "agent-mode",
            f"the execution plan of {ref.id} has mode `agent`: its steps are an agent's tool calls, which execplan doesn't run",
            exit=INPUT,
            hint=f"let an agent perform it: execplan handoff {ref.shell_name}",
        )


def ensure_no_unfinished_run(project: Project, ref: PlanRef, run_paths: RunPaths | None = None) -> None:
    """Raise ExecplanError while a run of the plan other than `run_paths` is unfinished and not rolled back."""
    for other_run in run_directories.list_runs(project, ref):
        entries = read_run_entries(other_run)
        if other_run != run_paths and entries:
            run_state = load_run_state(other_run, entries)
            if run_state.status not in (states.IN_PROGRESS, states.REPLANNING):
                return
            number = f"{other_run.number} -p {ref.shell_name}"
            if entries[0].fields.get("mode") == "agent":
                raise ExecplanError(
                    "run-under-way",
                    f"an agent is running {ref.id}: its run {other_run.id} has not ended",
                    exit=CHECK_FAILED,
                    hint=f"let it continue: execplan handoff {ref.shell_name}; or roll back its changes: execplan rollback {number}",
                )
            resume_command = format_resume_command(other_run.number, ref.shell_name, run_state.executor)
            raise ExecplanError(
                "run-under-way",
                f"run {other_run.id} of {ref.id} has not ended: it was paused, interrupted or killed",
                exit=CHECK_FAILED,
                hint=f"resume it: {resume_command}; or roll it back: execplan rollback {number}",
            )


def ensure_same_document(ref: PlanRef, run_paths: RunPaths, run_state: RunState, approved_plan: ApprovedPlan) -> None:
    """Raise ExecplanError if the approved document is not the one that the run executes."""
    if approved_plan.binding.document != run_state.document_digest:
        raise ExecplanError(
            "other-document",
            f"the approved steps are not those of run {run_paths.id}: the steps of {ref.id} have changed since then",
            exit=CONFLICT,
            hint=(
                f"continue the run with the new steps: {format_replan_command(run_paths.number, ref.shell_name)}; "
                f"or roll it back, then run them: execplan rollback {run_paths.number} -p {ref.shell_name}; "
                f"execplan approve {ref.shell_name}; execplan run {ref.shell_name}"
            ),
        )


def ensure_run_programs_unchanged(
    project: Project,
    ref: PlanRef,
    run_paths: RunPaths,
    run_state: RunState,
    steps: Sequence[Step],
    approved_plan: ApprovedPlan,
) -> list[str]:
    """Raise ExecplanError if the remaining steps would run different programs than the approved ones.

    If the policy only warns about that, return the differences, one per line. An approval that is newer than the run
    has bound the programs as they are.
    """
    if approved_plan.approval.id != run_state.approval_fields["approval_id"]:
        return []
    differences = program_changes.list_changed_programs(project, run_state, steps)
    if approved_plan.policy.programs == "refuse":
        resume_command = format_resume_command(run_paths.number, ref.shell_name, run_state.executor)
        commands = f"execplan approve {ref.shell_name}; {resume_command}"
        program_changes.ensure_programs_unchanged(
            differences, f"run {run_paths.id} would run different programs than approved", commands
        )
    return differences
