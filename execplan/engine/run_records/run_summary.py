"""The runs of plans at a glance: how each stands, what it waits for, and in which state it is filed."""

from __future__ import annotations

import json
import os

from execplan.engine.journal.journal import check_entries, read_journal
from execplan.engine.replanning import run_revisions
from execplan.engine.run_lock import run_lock_holder
from execplan.engine.run_records import run_directories
from execplan.engine.run_state import RunState
from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.execution.evaluate import ActiveRun
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final

    from execplan.engine.journal.journal import Entry
    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.engine.run_state import Question
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


def find_active_run(project: Project, ref: PlanRef) -> ActiveRun | None:
    """The last run of a plan with what it has done, None where it can't be resumed; raises ExecplanError."""
    run_paths, entries = find_last_begun_run(project, ref)
    if run_paths is None:
        return None
    run_state = load_run_state(run_paths, entries)
    if (
        run_state.status not in (states.IN_PROGRESS, states.REPLANNING, states.FAILED)
        or run_state.open_rollback is not None
    ):
        return None
    completed_ids = {
        step for step, status in run_state.status_of.items() if status in states.SUCCESS_STATES
    } - run_state.rolled_back_steps
    return ActiveRun(run_paths.id, run_revisions.latest_revision(entries)[1], frozenset(completed_ids))


PENDING: Final = "pending"
ACTIVE: Final = "active"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
ROLLED_BACK: Final = "rolled_back"
ARCHIVED: Final = "archived"
STATES = (PENDING, ACTIVE, COMPLETED, FAILED, ROLLED_BACK, ARCHIVED)
"""The states in which `runs` lists a run: not begun; running, paused or interrupted; ended in one of three ways; or its plan is
in the archive."""
_STATE_BY_STATUS = {
    states.PENDING: PENDING,
    states.IN_PROGRESS: ACTIVE,
    states.REPLANNING: ACTIVE,
    states.COMPLETED: COMPLETED,
    states.FAILED: FAILED,
    states.ROLLED_BACK: ROLLED_BACK,
}


class RunSummary(NamedTuple):
    """A run in a line."""

    id: str
    number: int
    """Which run of the plan it is, from 1."""
    plan: str
    """The id of the plan."""
    state: str
    """One of STATES."""
    status: str
    """Of the run, as states.py has them."""
    started: str
    """When it was begun; nothing where it was killed before that."""
    seconds: float | None
    """What it took, of one that has ended."""
    done: int
    """Steps that are completed, skipped or recovered."""
    total: int
    question: Question | None
    """What it waits for."""
    cut_short: bool
    """Whether it is neither at work nor paused nor at its end: it was interrupted or killed."""
    rolling: bool
    """Whether a rollback was cut short."""
    agent: bool
    """Whether an agent carries it out."""
    rolled_back: tuple[str, ...]
    """The steps that were rolled back."""


class BriefDocument(NamedTuple):
    """Of an execution plan no more than a course needs: reading it in full takes longer than all the rest."""

    steps: tuple[BriefStep, ...]


class BriefStep(NamedTuple):
    """Of a step its place."""

    number: int
    id: str


def runs(project: Project, refs: Iterable[PlanRef]) -> list[RunSummary]:
    """The runs of plans of a home, plan by plan, the last run first; raises ExecplanError."""
    return [
        summarize_run(project, ref, run_paths) for ref in refs for run_paths in run_directories.list_runs(project, ref)
    ]


def list_readable_runs(project: Project, refs: Iterable[PlanRef]) -> tuple[list[RunSummary], list[str]]:
    """Those of the runs that can be read, and why the others can't."""
    summaries, problems = [], []
    for ref in refs:
        for run_paths in run_directories.list_runs(project, ref):
            try:
                summaries.append(summarize_run(project, ref, run_paths))
            except ExecplanError as error:
                problems.append(f"the run {run_paths.id} of {ref.id} can't be read: {error.message}")
    return summaries, problems


def summarize_run(project: Project, ref: PlanRef, run_paths: RunPaths) -> RunSummary:
    """How a run stands; raises ExecplanError."""
    entries = read_run_entries(run_paths)
    run_state = load_run_state(run_paths, entries)
    status = run_state.status
    is_waiting = run_state.question is not None or status == states.REPLANNING
    is_unfinished = (
        status in (states.PENDING, states.IN_PROGRESS, states.REPLANNING) or run_state.open_rollback is not None
    )
    is_idle = is_unfinished and not is_at_work(project, run_paths)
    return RunSummary(
        id=run_paths.id,
        number=run_paths.number,
        plan=ref.id,
        state=ARCHIVED if ref.archived else _STATE_BY_STATUS[status],
        status=status,
        started=run_state.begin_fields.get("at", ""),
        seconds=run_state.seconds if status in states.ENDED_RUN_STATES else None,
        done=sum(
            [
                state in states.SUCCESS_STATES and step not in run_state.rolled_back_steps
                for step, state in run_state.status_of.items()
            ]
        ),
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
    )


def read_run_entries(run_paths: RunPaths) -> list[Entry]:
    """The journal of a run, empty where it was killed before it wrote one; raises ExecplanError."""
    return (
        check_entries(read_journal(run_paths.journal), run_paths.journal) if os.path.lexists(run_paths.journal) else []
    )


def find_last_begun_run(project: Project, ref: PlanRef) -> tuple[RunPaths | None, list[Entry]]:
    """The last run of a plan that has begun, with its journal; None where none has. Raises ExecplanError."""
    for run_paths in run_directories.list_runs(project, ref):
        if entries := read_run_entries(run_paths):
            return run_paths, entries
    return None, []


def load_run_state(run_paths: RunPaths, entries: list[Entry]) -> RunState:
    """How far a run has come, without its document being checked in full; raises ExecplanError."""
    document: Any = BriefDocument(
        tuple(_brief_steps(run_revisions.read_current_bytes(run_paths, entries)) if entries else ())
    )
    return RunState(document, entries)


def is_at_work(project: Project, run_paths: RunPaths) -> bool:
    """Whether a process is at work on a run, or a run is being rolled back: there is only one at a time in a home."""
    return run_paths.id in run_lock_holder(project)


def _brief_steps(data: bytes) -> Iterable[BriefStep]:
    return [BriefStep(step["number"], step["id"]) for step in json.loads(data)["steps"]]
