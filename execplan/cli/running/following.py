"""What makes sense after a run, by how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.running.phrases import format_run_command
from execplan.engine import entries
from execplan.execution import states

if TYPE_CHECKING:
    from execplan.cli.running.one import LoadedRun
    from execplan.engine.course import Question


def run_next_commands(run: LoadedRun) -> tuple[str, ...]:
    """Commands that make sense now."""
    name, run_state = run.plan_name, run.run_state
    if run.summary.state == "archived":
        return (f"execplan audit {name}",)
    resume_command, rollback_command = format_run_command("resume", run.run_paths.id, name), format_run_command("rollback", run.run_paths.id, name)
    if run.summary.rolling:
        return (rollback_command,)
    if is_unapproved(run_state.status, run_state.question):
        return f"execplan evaluate {name}", f"execplan approve {name}", resume_command
    if run_state.question is not None and run_state.question.why == entries.UNKNOWN:
        return tuple([format_run_command("resume", run.run_paths.id, name, "--answer", answer) for answer in (entries.GO, entries.AGAIN)])
    if run_state.is_agent_run and run_state.status == states.IN_PROGRESS and run_state.question is None:
        return f"execplan handoff {name}", rollback_command
    if run_state.status == states.COMPLETED:
        return f"execplan audit {name}", f"execplan show {name}"
    if run_state.status == states.ROLLED_BACK:
        return _show_command(run), f"execplan edit {name}", f"execplan evaluate {name}"
    if run_state.status == states.FAILED:
        replan_command = format_run_command("replan", run.run_paths.id, name, "--reason", "What was found out")
        return _show_command(run), resume_command, rollback_command, replan_command
    return resume_command, rollback_command


def is_unapproved(status: str, question: Question | None) -> bool:
    """Whether a run has a revision that somebody has to approve before it can be resumed."""
    return status == states.REPLANNING and (question is None or question.why != entries.COVERED)


def next_commands_without_show(run: LoadedRun) -> tuple[str, ...]:
    """The same for who sees the run already."""
    return tuple([next_command for next_command in run_next_commands(run) if next_command != _show_command(run)])


def _show_command(run: LoadedRun) -> str:
    return f"execplan show {run.plan_name} --run {run.run_paths.id}"
