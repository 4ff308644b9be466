"""Plan of a rollback, from the journal of a run: which changes and tasks are undone, and what stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.text.suggestions import closest_names
from execplan.execution import states
from execplan.execution.engine.error_hints import format_resume_command
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import StateChange, change_from_json
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import Attempt, RunState
from execplan.execution.engine.workspace.file_restore import compute_net_changes, is_restorable, with_created_folders
from execplan.execution.execution_plan import Step
from execplan.execution.world import ABSENT, FOLDER, State


def steps_of_all_revisions(run_paths: RunPaths, run_state: RunState) -> dict[str, Step]:
    """Return the steps of all revisions of a run, each from the last revision that has it. Raises ExecplanError."""
    from execplan.core.documents.document_io import load_document
    from execplan.execution.execution_plan import ExecutionPlan

    steps: dict[str, Step] = {}
    earlier_revisions = [0, *[replan_entry.fields["revision"] for replan_entry in run_state.replans[:-1]]]
    for revision in earlier_revisions if run_state.replans else ():
        name = run_revisions.document_name(revision)
        data = evidence_copies.read_document(run_paths, name)
        steps |= {step.id: step for step in load_document(data, ExecutionPlan, run_paths.artifact_path(name)).steps}
    return {**steps, **{step.id: step for step in run_state.document.steps}}


def find_step_id(run_paths: RunPaths, run_state: RunState, steps: Collection[str], name: str | None) -> str | None:
    """Return the ID of the step that an ID or a number refers to. Raises ExecplanError if there is none."""
    ref = run_paths.ref
    if name is None or name in steps:
        return name
    for step in run_state.document.steps:
        if str(step.number) == name:
            return step.id
    message = f"run {run_paths.id} has no step {name!r}"
    raise ExecplanError(
        "no-such-step",
        message,
        hint=f"see them: execplan show {ref.shell_name} --run {run_paths.id}",
        candidates=closest_names(name, steps) or list(steps),
    )


def ensure_can_roll_back(run_paths: RunPaths, run_state: RunState, only_step: str | None) -> None:
    """Raise ExecplanError if nothing is left to roll back, or if a rollback is not possible yet."""
    ref = run_paths.ref
    if run_state.status == states.ROLLED_BACK or (
        only_step is not None and (only_step in run_state.rolled_back_steps or not run_state.attempts.get(only_step))
    ):
        message = f"run {run_paths.id} is already rolled back" if run_state.status == states.ROLLED_BACK else ""
        message = message or f"{only_step} of run {run_paths.id} " + (
            "is already rolled back" if only_step in run_state.rolled_back_steps else "never ran"
        )
        hint = f"see what it did: execplan show {ref.shell_name} --run {run_paths.id}"
        raise ExecplanError("nothing-to-roll-back", message, hint=hint)
    if other_steps := [name for name, _ in run_state.open_attempts() if only_step not in (None, name)]:
        raise ExecplanError(
            "run-cut-short",
            f"{', '.join(other_steps)} of run {run_paths.id} was interrupted: its changes are not known yet",
            hint=(
                f"resume the run: {format_resume_command(run_paths.number, ref.shell_name, run_state.executor)}; "
                f"or roll back all of it: execplan rollback {run_paths.number} -p {ref.shell_name}"
            ),
        )


class RollbackPlan(NamedTuple):
    """The steps, changes and tasks that a rollback undoes."""

    steps: tuple[str, ...]
    changes: tuple[StateChange, ...]
    """One change per path; those of the last step come first."""
    folders: tuple[str, ...]
    """Directories that the run created, outermost first."""
    ticks: tuple[tuple[str, str, str], ...]
    """Step IDs with the tasks that they checked off and the linked transcripts."""
    not_undone: tuple[str, ...]
    """Effects that cannot be undone, one per line."""
    is_whole_run: bool
    restored_paths: frozenset[str] = frozenset()
    """Paths that an interrupted rollback has already restored."""
    is_retry: bool = False
    """Whether an earlier attempt to undo some of it may have been interrupted."""


def plan_rollback(
    run_state: RunState, steps: Mapping[str, Step], only_step: str | None, current_state: Callable[[str], State]
) -> RollbackPlan:
    """Plan the rollback of a run or of one step; `steps` are those of all revisions. Raises ExecplanError.

    `current_state` returns the state of a path: the changes of a failed attempt may be partly undone, or partly made.
    """
    attempts = _ordered_attempts(run_state)
    chosen_ids = list(dict.fromkeys([name for name, _ in attempts if only_step in (None, name)]))
    chosen_ids = [name for name in chosen_ids if name not in steps or steps[name].rollback.enabled]
    effective_results = [
        (name, performed)
        for _, name, performed in sorted(
            [
                (entry, name, performed)
                for name, attempt in attempts
                if not attempt.retaken
                for entry, performed in attempt.results
            ],
            key=lambda result: result[0],
        )
    ]
    by_path: dict[str, list[tuple[str, StateChange]]] = {}
    for name, performed in effective_results:
        for change in with_created_folders(performed.changes, performed.folders):
            if performed.ok or current_state(change.path) != change.before:
                by_path.setdefault(change.path, []).append((name, change))
    not_undone = _outside_effects(attempts, only_step)
    undone_changes: list[StateChange] = []
    for path, path_changes in by_path.items():
        undone_changes += _undoable_changes(path, path_changes, chosen_ids, only_step, not_undone)
    kept_steps = [name for name, _ in effective_results if name not in chosen_ids and only_step is None]
    not_undone += [
        f"{name}: its changes stay because its step has rollback=false" for name in dict.fromkeys(kept_steps)
    ]
    net_changes = compute_net_changes(undone_changes)
    not_undone += [
        f"{net_change.path}: it was not a regular file, or could not be read"
        for net_change in net_changes
        if not is_restorable(net_change)
    ]
    net_changes = [net_change for net_change in net_changes if is_restorable(net_change)]
    folders = [
        net_change.path
        for net_change in net_changes
        if net_change.before.kind == ABSENT and net_change.after.kind == FOLDER
    ]
    changes = [net_change for net_change in reversed(net_changes) if net_change.path not in folders]
    has_failures = any([not performed.ok for _, performed in effective_results])
    return RollbackPlan(
        tuple(chosen_ids),
        tuple(changes),
        tuple(sorted(folders, key=lambda folder: folder.split("/"))),
        _ticked_tasks(run_state, steps, chosen_ids),
        tuple(dict.fromkeys(not_undone)),
        only_step is None,
        is_retry=has_failures,
    )


def continue_rollback(run_state: RunState, rollback_entry: RunEntry, steps: Mapping[str, Step]) -> RollbackPlan:
    """Plan the rest of an interrupted rollback."""
    fields = rollback_entry.fields
    return RollbackPlan(
        tuple(fields["steps"]),
        tuple([change_from_json(change_fields) for change_fields in fields["changes"]]),
        tuple(fields["folders"]),
        _ticked_tasks(run_state, steps, fields["steps"]),
        tuple(fields["undone_not"]),
        fields["whole"],
        frozenset(run_state.restored_paths),
        is_retry=True,
    )


def _ordered_attempts(run_state: RunState) -> list[tuple[str, Attempt]]:
    """Return the attempts of the steps that are not rolled back, in the order in which they ended."""
    pairs = [
        (name, attempt)
        for name, attempts in run_state.attempts.items()
        for attempt in attempts
        if name not in run_state.rolled_back_steps
    ]
    return sorted(pairs, key=lambda pair: pair[1].entry)


def _undoable_changes(
    path: str,
    path_changes: list[tuple[str, StateChange]],
    chosen_ids: Collection[str],
    only_step: str | None,
    not_undone: list[str],
) -> list[StateChange]:
    """Return the changes of a path to undo: from the last one back to the first one that must stay."""
    undone_changes: list[StateChange] = []
    for name, change in reversed(path_changes):
        if name not in chosen_ids:
            break
        undone_changes.insert(0, change)
    remaining_ids = [name for name, _ in path_changes[: len(path_changes) - len(undone_changes)]]
    own_ids = [name for name in remaining_ids if name in chosen_ids]
    if own_ids and only_step is not None:
        raise _overwritten_error(only_step, path, remaining_ids[-1])
    if own_ids:
        not_undone.append(f"{path}: {remaining_ids[-1]} changed it after {own_ids[-1]}, and that change stays")
    return undone_changes


def _outside_effects(attempts: list[tuple[str, Attempt]], only_step: str | None) -> list[str]:
    """Return the effects of the steps that a rollback cannot undo, including those of failed attempts."""
    return [
        f"{name}: {attempt.performed.outside}"
        for name, attempt in attempts
        if attempt.performed is not None and attempt.performed.outside and only_step in (None, name)
    ]


def _ticked_tasks(
    run_state: RunState, steps: Mapping[str, Step], chosen_ids: Collection[str]
) -> tuple[tuple[str, str, str], ...]:
    """Return the tasks that were checked off for these steps, or for other steps that complete the same tasks."""
    tasks = {normalize_text(steps[name].task or "") for name in chosen_ids if name in steps and steps[name].task}
    return tuple(
        [
            (name, task, transcript)
            for name, (task, transcript) in run_state.ticked_tasks.items()
            if name in chosen_ids or (name in steps and normalize_text(steps[name].task or "") in tasks)
        ]
    )


def _overwritten_error(step: str, path: str, later_step: str) -> ExecplanError:
    return ExecplanError(
        "step-overwritten",
        f"{later_step} changed {path} after {step}; rolling back only {step} would lose that change",
        hint=f"roll back {later_step} first, or the whole run: execplan rollback --step {later_step}",
        candidates=(later_step,),
    )
