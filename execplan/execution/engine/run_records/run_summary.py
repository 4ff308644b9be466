"""Summaries of the runs of plans: status, open question, and state in the list of runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text import fast_json
from execplan.execution import states
from execplan.execution.engine.journal.journal import RunEntry, check_entries, read_journal
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.run_lock import run_lock_holder
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import Question, RunState
from execplan.execution.states import ActiveRun
from execplan.execution.world import ABSENT


def find_active_run(project: Project, ref: PlanRef) -> ActiveRun | None:
    """Return the last run of a plan with its completed steps; None if it cannot be resumed. Raises ExecplanError."""
    run_paths, entries = find_last_begun_run(project, ref)
    if run_paths is None:
        return None
    run_state = load_run_state(run_paths, entries)
    if (
        run_state.status not in (states.IN_PROGRESS, states.REPLANNING, states.FAILED)
        or run_state.open_rollback is not None
    ):
        return None
    return make_active_run(run_paths, run_state, run_revisions.latest_revision(entries)[1])


def make_active_run(run_paths: RunPaths, run_state: RunState, document: str) -> ActiveRun:
    """Return a run that continues with a document, given the digest of its bytes. Raises ExecplanError."""
    from execplan.execution.engine.workspace.backup_store import BackupStore

    files_before = {}
    for path, state in run_state.states_before_work().items():
        with suppress(ExecplanError):  # without a backup, nobody knows what the file was before
            files_before[path] = (
                state,
                b"" if state.kind == ABSENT else BackupStore(run_paths.project).get(state.sha256),
            )
    return ActiveRun(run_paths.id, document, run_state.settled_steps, files_before)


PENDING: Final = "pending"
ACTIVE: Final = "active"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
ROLLED_BACK: Final = "rolled_back"
ARCHIVED: Final = "archived"
STATES = (PENDING, ACTIVE, COMPLETED, FAILED, ROLLED_BACK, ARCHIVED)
"""States in which `runs` lists a run.

In order: not begun; running, paused or interrupted; ended in one of three ways; its plan is archived.
"""
_STATE_BY_STATUS = {
    states.PENDING: PENDING,
    states.IN_PROGRESS: ACTIVE,
    states.REPLANNING: ACTIVE,
    states.COMPLETED: COMPLETED,
    states.FAILED: FAILED,
    states.ROLLED_BACK: ROLLED_BACK,
}


class RunSummary(NamedTuple):
    """The summary of a run, as listed in one line."""

    id: str
    number: int
    """Number of the run in its plan, from 1."""
    plan: str
    """ID of the plan."""
    state: str
    """State in the list, one of `STATES`."""
    status: str
    """Status of the run, as in states.py."""
    started: str
    """Time at which the run began; empty if it was killed before."""
    seconds: float | None
    """Duration in seconds of a run that has ended; otherwise None."""
    done: int
    """Number of steps that are completed or recovered."""
    skipped: int
    total: int
    question: Question | None
    """Question for which the run waits."""
    cut_short: bool
    """Whether the run was interrupted or killed: it is not active, paused or ended."""
    rolling: bool
    """Whether a rollback was interrupted."""
    agent: bool
    """Whether an agent performs the run."""
    rolled_back: tuple[str, ...]
    """IDs of the steps that were rolled back."""
    executor: str
    """Executor with which the run was begun or last resumed; empty for this machine."""


class BriefDocument(NamedTuple):
    """The part of an execution plan that a run state needs; reading all of it takes longer than everything else."""

    steps: tuple[BriefStep, ...]


class BriefStep(NamedTuple):
    """The fields of a step that a summary needs."""

    number: int
    id: str
    service: str | None


def runs(project: Project, refs: Iterable[PlanRef]) -> list[RunSummary]:
    """Summarize the runs of plans, plan by plan, last run first. Raises ExecplanError."""
    return [summarize_run(run_paths) for ref in refs for run_paths in run_directories.list_runs(project, ref)]


def list_readable_runs(project: Project, refs: Iterable[PlanRef]) -> tuple[list[RunSummary], list[str]]:
    """Summarize the runs that can be read; return also why the others cannot."""
    summaries, problems = [], []
    for ref in refs:
        for run_paths in run_directories.list_runs(project, ref):
            try:
                summaries.append(summarize_run(run_paths))
            except ExecplanError as error:
                problems.append(f"run {run_paths.id} of {ref.id} can't be read: {error.message}")
    return summaries, problems


def summarize_run(run_paths: RunPaths) -> RunSummary:
    """Return the summary of a run. Raises ExecplanError."""
    entries = read_run_entries(run_paths)
    run_state = load_run_state(run_paths, entries)
    status = run_state.status
    is_waiting = run_state.question is not None or status == states.REPLANNING
    is_unfinished = (
        status in (states.PENDING, states.IN_PROGRESS, states.REPLANNING) or run_state.open_rollback is not None
    )
    is_idle = is_unfinished and not is_at_work(run_paths)
    return RunSummary(
        id=run_paths.id,
        number=run_paths.number,
        plan=run_paths.ref.id,
        state=ARCHIVED if run_paths.ref.archived else _STATE_BY_STATUS[status],
        status=status,
        started=run_state.begin_fields.get("at", ""),
        seconds=run_state.seconds if status in states.ENDED_RUN_STATES else None,
        done=sum(
            [
                state in (states.COMPLETED, states.RECOVERED) and step not in run_state.rolled_back_steps
                for step, state in run_state.status_of.items()
            ]
        ),
        skipped=len(run_state.step_numbers(states.SKIPPED)),
        total=len(run_state.status_of),
        question=run_state.question,
        cut_short=is_idle
        and not is_waiting
        and run_state.open_rollback is None
        and bool(run_state.begin_fields)
        and not run_state.is_agent_run,
        rolling=is_idle and run_state.open_rollback is not None,
        agent=run_state.is_agent_run,
        rolled_back=tuple([step for step in run_state.status_of if step in run_state.rolled_back_steps]),
        executor=run_state.executor,
    )


def read_run_entries(run_paths: RunPaths) -> list[RunEntry]:
    """Read the journal of a run; empty if the run was killed before it wrote one. Raises ExecplanError."""
    if os.path.lexists(run_paths.journal):
        return check_entries(read_journal(run_paths.journal), run_paths.journal)
    return []


def never_begun_error(run_paths: RunPaths) -> ExecplanError:
    """Return the error for a run that was killed before it wrote anything, or whose journal was removed."""
    ref = run_paths.ref
    message = (
        f"run {run_paths.id} of {ref.id} has no journal: the run was killed before it began, or the journal was removed"
    )
    hint = (
        f"see which: execplan audit {ref.shell_name} --verify; if the run never began, its approval is still valid: "
        f"execplan run {ref.shell_name}"
    )
    return ExecplanError("no-such-run", message, hint=hint)


def load_begun_run(run_paths: RunPaths) -> tuple[list[RunEntry], RunState]:
    """Return the journal and the state of a run that has begun. Raises ExecplanError."""
    if not (entries := read_run_entries(run_paths)):
        raise never_begun_error(run_paths)
    return entries, RunState(run_revisions.load_document(run_paths, entries), entries)


def find_last_begun_run(project: Project, ref: PlanRef) -> tuple[RunPaths | None, list[RunEntry]]:
    """Return the last run of a plan that has begun, with its journal; None if there is none. Raises ExecplanError."""
    for run_paths in run_directories.list_runs(project, ref):
        if entries := read_run_entries(run_paths):
            return run_paths, entries
    return None, []


def load_run_state(run_paths: RunPaths, entries: list[RunEntry]) -> RunState:
    """Load the state of a run without a complete check of its document. Raises ExecplanError."""
    document: Any = BriefDocument(
        tuple(_brief_steps(run_revisions.read_current_bytes(run_paths, entries)) if entries else ())
    )
    return RunState(document, entries)


def is_at_work(run_paths: RunPaths) -> bool:
    """Return whether a process runs or rolls back this run; a project has only one such process at a time."""
    return run_paths.id in run_lock_holder(run_paths.project)


def _brief_steps(data: bytes) -> Iterable[BriefStep]:
    return [
        BriefStep(step["number"], step["id"], step.get("service")) for step in fast_json.read(data.decode())["steps"]
    ]
