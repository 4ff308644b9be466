"""Replay of a run with the same document and inputs, and comparison of how its steps ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.binding import Binding, drift
from execplan.execution.engine.journal.journal_entries import AttemptResult, state_from_json
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_summary import load_begun_run
from execplan.execution.engine.run_state import RunState
from execplan.execution.world import State


class ReplayedRun(NamedTuple):
    """The earlier run that is replayed."""

    run_paths: RunPaths
    run_state: RunState


def find(project: Project, ref: PlanRef, name: str, current_binding: Binding) -> ReplayedRun:
    """Find the run to replay. Raises ExecplanError unless the approved document and its inputs match that run."""
    run_paths = run_directories.find_run(project, ref, name)
    entries, run_state = load_begun_run(run_paths)
    fields = entries[0].fields
    states_before = {path: state_from_json(state) for path, state in fields["states"].items()}
    lines = drift(Binding("", fields["document"], states_before, ""), current_binding._replace(policy=""))
    if lines:
        raise ExecplanError(
            "not-as-then",
            f"the execution plan or its inputs differ from those of run {run_paths.id}",
            hint="restore the files as they were then, approve the plan, and try again; a rollback of that run may restore them",
            candidates=lines,
        )
    return ReplayedRun(run_paths, run_state)


def differences(old: RunState, new: RunState) -> tuple[str, ...]:
    """Return the differences in how the steps ended, one per line. Durations are not compared."""
    return tuple([line for step in new.document.steps for line in _compare_step(step.id, old, new)])


def _compare_step(step: str, old: RunState, new: RunState) -> Iterator[str]:
    old_status, new_status = old.status_of.get(step, "not there"), new.status_of[step]
    if old_status != new_status:
        reason = f": {new.reasons[step]}" if new.reasons.get(step) else ""
        yield f"{step}: was {old_status}, is {new_status}{reason}"
    old_results, new_results = _finished_attempts(old, step), _finished_attempts(new, step)
    if len(old_results) != len(new_results):
        yield f"{step}: {len(old_results)} attempts then, {len(new_results)} now"
    if old_results and new_results:
        yield from _compare_results(step, old_results[-1], new_results[-1])


def _compare_results(step: str, old: AttemptResult, new: AttemptResult) -> Iterator[str]:
    if (old.exit, old.signal) != (new.exit, new.signal):
        yield f"{step}: ended with {_format_exit(old)}, now ends with {_format_exit(new)}"
    if old.stdout != new.stdout:
        yield f"{step}: prints different output"
    old_states, new_states = _resulting_states(old), _resulting_states(new)
    for path in sorted(old_states.keys() | new_states.keys()):
        if path not in old_states:
            yield f"{step}: {path}: was not changed in the earlier run"
        elif path not in new_states:
            yield f"{step}: {path}: was changed only in the earlier run"
        elif old_states[path] != new_states[path]:
            yield f"{step}: {path}: has a different result ({_format_state(old_states[path])} → {_format_state(new_states[path])})"


def _finished_attempts(run_state: RunState, step: str) -> list[AttemptResult]:
    return [attempt.performed for attempt in run_state.attempts.get(step, ()) if attempt.performed is not None]


def _resulting_states(performed: AttemptResult) -> dict[str, State]:
    """Return the state in which the attempt left each path."""
    return {change.path: change.after for change in performed.changes}


def _format_exit(performed: AttemptResult) -> str:
    return f"signal {performed.signal}" if performed.signal else f"exit {performed.exit}"


def _format_state(state: State) -> str:
    return state.sha256[:12] or state.kind
