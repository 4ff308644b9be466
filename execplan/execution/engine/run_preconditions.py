"""Checks before a run begins or continues: the mode, other runs, the document, and the programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_excess
from execplan.core.text.text_lines import digest
from execplan.execution import states
from execplan.execution.approval_document import Approval
from execplan.execution.approvals.approved_plan import ApprovedPlan
from execplan.execution.approvals.current_plan import load_current_plan
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.binding import sanitize_program
from execplan.execution.engine.error_hints import continue_ended_run, format_replan_command, format_resume_command
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import REVISION_REASONS
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.replanning.removed_steps import ensure_has_steps
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_summary import find_active_run, load_run_state, read_run_entries
from execplan.execution.engine.run_state import RunState
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.program_lookup import describe_changed_programs, resolve_step_programs
from execplan.execution.world import Program

if TYPE_CHECKING:
    from execplan.execution.engine.steps.run_context import RunContext

WARNING = "a different program or code than at the approval: {}"


def programs_json(program_map: Mapping[str, Program] | None) -> dict[str, Any]:
    """Convert programs to the JSON form of a journal entry."""
    return {name: list(program) for name, program in (program_map or {}).items()}


def list_changed_programs(project: Project, run_state: RunState, steps: Iterable[Step]) -> list[str]:
    """List the programs of these steps that differ from the approved ones and from how the run left them."""
    current = _resolve_steps(project, steps)
    return describe_changed_programs(
        run_state.programs,
        {name: current[name] for name in current if current[name] != run_state.approved_programs.get(name)},
    )


def _resolve_steps(project: Project, steps: Iterable[Step]) -> dict[str, Program]:
    """Return the current program for each name that these steps run, and the files with code that they read."""
    resolved: dict[str, Program] = {}
    world = DiskWorld(project)
    for step in steps:
        resolve_step_programs(step, world, resolved)
    return {name: sanitize_program(program) for name, program in resolved.items()}


def must_be_approved_again(project: Project, ref: PlanRef, run: str) -> bool:
    """Return whether the remaining steps of a run would use other programs or code than approved, which the policy refuses.

    It is false if the run can't be read, as `audit` and `doctor` report.
    """
    try:
        if effective_policy(project).programs != "refuse":
            return False
        run_paths = run_directories.get_run_paths(project, ref, run)
        entries = read_run_entries(run_paths)
        run_state = load_run_state(run_paths, entries)
        completed = run_state.steps_with_status(states.COMPLETED)
        document = run_revisions.load_document(run_paths, entries)
        steps = [step for step in document.steps if step.id not in completed]
        return bool(run_state.programs and list_changed_programs(project, run_state, steps))
    except ExecplanError:
        return False


def changed_program_fields(context: RunContext, run_state: RunState) -> dict[str, Any]:
    """Return the entry fields for programs of steps yet to run that changed while a step ran: it may build or install some."""
    if not run_state.programs:
        return {}
    completed = run_state.steps_with_status(states.COMPLETED)
    steps = [step for step in context.document.steps if step.id not in completed]
    current = _resolve_steps(context.run_paths.project, steps)
    changed = {name: program for name, program in current.items() if run_state.programs.get(name, program) != program}
    return {"programs": programs_json(changed)} if changed else {}


def ensure_programs_unchanged(differences: list[str], message: str, commands: str) -> None:
    """Raise ExecplanError if programs differ from the approved ones.

    `commands` are shown in the hint: they continue the run after a new approval.
    """
    if differences:
        raise ExecplanError(
            "program-changed",
            f"{message}: {differences[0]}{format_excess(len(differences), 1, ', ')}",
            hint=f"restore PATH or the file; or approve the current programs, then continue: {commands}",
            candidates=differences,
        )


def ensure_not_agent_mode(document: ExecutionPlan, ref: PlanRef) -> None:
    """Raise ExecplanError if an agent runs the steps of the document."""
    if document.mode == "agent":
        raise ExecplanError(
            "agent-mode",
            f"the execution plan of {ref.id} has mode `agent`: its steps are an agent's tool calls, which execplan doesn't run",
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
                    hint=f"let it continue: execplan handoff {ref.shell_name}; or roll back its changes: execplan rollback {number}",
                )
            is_revised = run_state.question is not None and run_state.question.why in REVISION_REASONS
            if is_revised and (reasons := _missing_approval_reasons(project, ref, other_run)) is not None:
                raise ExecplanError(
                    "run-under-way",
                    f"run {other_run.id} of {ref.id} waits for the approval of its revision{': ' if reasons else ''}{reasons}",
                    hint=f"read what it would do: execplan evaluate {ref.shell_name}; or roll it back: execplan rollback {number}",
                )
            resume_command = format_resume_command(other_run.number, ref.shell_name, run_state.executor)
            cause = "its revision is approved" if is_revised else "it was paused, interrupted or killed"
            raise ExecplanError(
                "run-under-way",
                f"run {other_run.id} of {ref.id} has not ended: {cause}",
                hint=f"resume it: {resume_command}; or roll it back: execplan rollback {number}",
            )


def _missing_approval_reasons(project: Project, ref: PlanRef, run_paths: RunPaths) -> str | None:
    """Return why no approval covers the revision of a run, such as one of an earlier revision; None if one covers it."""
    from execplan.execution.approvals.approval_states import APPROVED
    from execplan.execution.approvals.approval_status import find_status

    status = find_status(project, ref, run_paths.id)
    return None if status.state == APPROVED else "; ".join(status.reasons[:1])


def ensure_not_remainder_approval(project: Project, ref: PlanRef, approval: Approval) -> None:
    """Raise ExecplanError if the approval covers only the remaining steps of a failed run."""
    failed_run = find_active_run(project, ref)
    if (
        failed_run is not None
        and failed_run.finished_steps
        and approval.steps is not None
        and failed_run.finished_steps.isdisjoint(approval.steps)
    ):
        run = f"{failed_run.run} -p {ref.shell_name}"
        message = f"the approval of {ref.id} covers only the remaining steps of its run {failed_run.run}"
        hint = f"a person must resume the run: execplan resume {run}; or roll it back and approve all steps: execplan rollback {run}"
        raise ExecplanError("run-under-way", message, hint=hint)


def explain_used_approval(project: Project, ref: PlanRef, error: ExecplanError) -> ExecplanError:
    """Return the error for a run without a valid approval; if the last run used it, with what is next after that run."""
    last_run = next(iter(run_directories.list_runs(project, ref)), None)
    entries = read_run_entries(last_run) if last_run is not None and error.code == "approval-used" else []
    if last_run is None or not entries:
        return error
    run_state = load_run_state(last_run, entries)
    if run_state.status != states.ROLLED_BACK:  # then it is approved like a first run
        error.hint = continue_ended_run(run_state.status, last_run.number, ref.shell_name, run_state.executor)
    return error


def ensure_same_document(run_paths: RunPaths, entries: Sequence[RunEntry]) -> None:
    """Raise ExecplanError if the plan's current steps are not those of the run, so that no approval lets it continue."""
    ref = run_paths.ref
    is_edited = run_revisions.has_edited_steps(run_paths, entries)
    if is_edited:
        ensure_has_steps(run_paths)
    is_same = digest(load_current_plan(run_paths.project, ref).data) == run_revisions.latest_revision(entries)[1]
    if not is_same or is_edited:
        raise ExecplanError(
            "other-document",
            f"the steps of {ref.id} are not those of run {run_paths.id}: they have changed since then",
            hint=(
                f"continue the run with the new steps: {format_replan_command(run_paths.number, ref.shell_name)}; "
                f"or roll it back, then run them: execplan rollback {run_paths.number} -p {ref.shell_name}; "
                f"execplan approve {ref.shell_name}; execplan run {ref.shell_name}"
            ),
        )


def ensure_run_programs_unchanged(
    run_paths: RunPaths, run_state: RunState, steps: Sequence[Step], approved_plan: ApprovedPlan
) -> list[str]:
    """Raise ExecplanError if the remaining steps would run different programs than the approved ones.

    If the policy only warns about that, return the differences, one per line. An approval that is newer than the run
    has bound the programs as they are.
    """
    ref = run_paths.ref
    if approved_plan.approval.id != run_state.approval_fields["approval_id"]:
        return []
    differences = list_changed_programs(run_paths.project, run_state, steps)
    if approved_plan.policy.programs == "refuse":
        resume_command = format_resume_command(run_paths.number, ref.shell_name, run_state.executor)
        commands = f"execplan approve {ref.shell_name}; {resume_command}"
        ensure_programs_unchanged(
            differences, f"run {run_paths.id} would run different programs or code than approved", commands
        )
    return differences
