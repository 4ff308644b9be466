"""The commands that finish an unfinished run, by its state and, if it waits with a new revision, by its approval."""

from __future__ import annotations

from execplan.core.edits.active_runs import ensure_not_running
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approvals.approval_states import APPROVED
from execplan.execution.engine.error_hints import format_replan_command, format_resume_command
from execplan.execution.engine.journal.journal_entries import APPROVE, REVISION_REASONS
from execplan.execution.engine.run_questions import answer_arguments
from execplan.execution.engine.run_records.run_statuses import (
    BY_AGENT,
    CUT_SHORT,
    EDITED,
    REMOVED,
    ROLLING_BACK,
    RUNNING,
    RunStatus,
    describe_open_state,
    is_agent_run,
    list_open_runs,
    run_number,
)


def finishing_commands(project: Project, ref: PlanRef, run_status: RunStatus, name: str) -> tuple[str, ...]:
    """Return the commands that finish a run, or must precede that; `name` is the plan as typed in a shell.

    Raises ExecplanError.
    """
    if run_status.why not in REVISION_REASONS:
        return select_commands(run_status, name)
    from execplan.execution.approvals.approval_status import UncompiledPlan, find_status
    from execplan.execution.engine.run_records.run_directories import get_run_paths

    status = find_status(project, ref, run_status.id)
    by_agent = is_agent_run(get_run_paths(project, ref, run_status.id)) or (
        not isinstance(status, UncompiledPlan) and status.document.mode == "agent"
    )
    return select_commands(run_status, name, is_approved=status.state == APPROVED, by_agent=by_agent)


def describe_open_run(project: Project, ref: PlanRef, run_status: RunStatus) -> str:
    """Describe an unfinished run, as in "run 0001-1f0c2a9b was interrupted". Raises ExecplanError."""
    is_approved = False
    if run_status.why == APPROVE:
        from execplan.execution.approvals.approval_status import find_status

        is_approved = find_status(project, ref, run_status.id).state == APPROVED
    return f"run {run_status.id} {describe_open_state(run_status.state, run_status.why, is_approved=is_approved)}"


def open_run_warnings(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """Return a warning for each unfinished run of a plan that is archived anyway. Raises ExecplanError."""
    advice = f"to finish it, restore the plan first: execplan restore {ref.shell_name}"
    runs = list_open_runs(project, ref)
    return tuple([f"{describe_open_run(project, ref, run_status)}; {advice}" for run_status in runs])


def select_commands(
    run_status: RunStatus, name: str, *, is_approved: bool = True, by_agent: bool = False
) -> tuple[str, ...]:
    """Return the commands that finish a run; `is_approved` and `by_agent` are about a revision with which it waits."""
    if run_status.state == RUNNING:
        return (f"execplan show {name} --run {run_status.id}",)
    rollback = f"execplan rollback {run_status.id} -p {name}"
    if run_status.state == ROLLING_BACK or (run_status.state == CUT_SHORT and run_status.why == EDITED):
        return (rollback,)
    if run_status.why == REMOVED:
        return (rollback,)
    if run_status.why == EDITED:
        return format_replan_command(run_number(run_status.id), name), rollback
    if not is_approved:  # a resume would fail
        return f"execplan evaluate {name}", rollback
    if by_agent or run_status.state == BY_AGENT:
        return f"execplan handoff {name}", rollback
    answer = answer_arguments(run_status.why)
    return format_resume_command(run_status.id, name, run_status.executor, answer), rollback


def has_new_steps(project: Project, ref: PlanRef, run_id: str) -> bool:
    """Return whether other steps were compiled since a run began or was last replanned. Raises ExecplanError."""
    from execplan.core.text.text_lines import digest
    from execplan.execution.approvals import artifact_store
    from execplan.execution.engine.replanning.run_revisions import latest_revision
    from execplan.execution.engine.run_records.run_directories import get_run_paths
    from execplan.execution.engine.run_records.run_summary import read_run_entries

    data = artifact_store.read(project, ref, "execution-plan.json")
    entries = read_run_entries(get_run_paths(project, ref, run_id))
    return data is not None and digest(data) != latest_revision(entries)[1]


def ensure_no_open_runs(project: Project, ref: PlanRef, action: str) -> None:
    """Raise ExecplanError if a plan has unfinished runs that could not be resumed or rolled back after an action.

    `action`: what the command would do, such as "archived".
    """
    ensure_not_running(project, ref)
    statuses = list_open_runs(project, ref)
    if not statuses:
        return
    lines = [describe_open_run(project, ref, run_status) for run_status in statuses]
    raise ExecplanError(
        "open-run",
        f"{ref.id} can't be {action}: "
        + ("it has an unfinished run" if len(statuses) == 1 else "it has unfinished runs"),
        hint=f"finish or roll back the run first: {'; '.join(finishing_commands(project, ref, statuses[0], ref.shell_name))}",
        candidates=lines,
        data={"reasons": lines},
    )
