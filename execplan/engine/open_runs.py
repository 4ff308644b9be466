"""Runs that are not finished: at work, paused, interrupted, left to an agent, or rolled back in part."""

from __future__ import annotations

from execplan.engine import place as run_directories
from execplan.engine.last import BY_AGENT, CUT_SHORT, ROLLING_BACK, RUNNING, WAITING, read_run_status
from execplan.errors import CHECK_FAILED, ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.last import RunStatus
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

OPEN_STATES: Final = (RUNNING, BY_AGENT, WAITING, CUT_SHORT, ROLLING_BACK)
"""The states of a run that is not finished: all but completed, failed and rolled back."""
DESCRIPTIONS: Final = {
    RUNNING: "is running",
    BY_AGENT: "is being carried out by an agent",
    WAITING: "waits for an answer",
    CUT_SHORT: "was interrupted",
    ROLLING_BACK: "was rolled back only in part: the rollback was interrupted",
}
"""What a person reads about such a run."""


def run_number(run: str) -> int:
    """Which run of its plan a run is, from 1, by its id."""
    return int(run.partition("-")[0])


def list_open_runs(project: Project, ref: PlanRef) -> list[RunStatus]:
    """Every unfinished run of a plan, the last one first; raises ExecplanError.

    Two branches that were merged may have brought more than one.
    """
    statuses = [read_run_status(project, run_paths) for run_paths in run_directories.list_runs(project, ref)]
    return [run_status for run_status in statuses if run_status.state in OPEN_STATES]


def finishing_commands(run_status: RunStatus, name: str) -> tuple[str, ...]:
    """The commands that finish a run; the plan as it can be typed."""
    resume, rollback = (f"execplan {command} {run_status.id} -p {name}" for command in ("resume", "rollback"))
    if run_status.state == ROLLING_BACK:
        return (rollback,)
    return (f"execplan handoff {name}" if run_status.state == BY_AGENT else resume, rollback)


def ensure_no_open_runs(project: Project, ref: PlanRef, action: str) -> None:
    """Stop what would put an unfinished run where nobody can resume it or roll it back; raises ExecplanError.

    `action` is what the command would do, such as "archived".
    """
    from execplan.repo.moving.move import ensure_not_running

    ensure_not_running(project, ref)
    statuses = list_open_runs(project, ref)
    if not statuses:
        return
    lines = [f"run {run_status.id} {DESCRIPTIONS[run_status.state]}" for run_status in statuses]
    raise ExecplanError(
        "open-run",
        f"{ref.id} can't be {action}: " + ("it has an unfinished run" if len(statuses) == 1 else "it has unfinished runs"),
        exit=CHECK_FAILED,
        hint=f"resume or roll back first: {'; '.join(finishing_commands(statuses[0], ref.shell_name))}",
        candidates=lines,
        data={"reasons": lines},
    )


def open_run_warnings(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """A warning for each unfinished run of a plan that is archived all the same; raises ExecplanError."""
    advice = f"to finish it, restore the plan first: execplan restore {ref.shell_name}"
    return tuple([f"run {run_status.id} {DESCRIPTIONS[run_status.state]}; {advice}" for run_status in list_open_runs(project, ref)])
