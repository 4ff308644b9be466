"""What a rollback would do, by the journal of a run: which changes are taken back, which ticks, and what stays."""

from __future__ import annotations

from execplan.engine.entries import change_from
from execplan.engine.files.restore import compute_net_changes, is_restorable, with_created_folders
from execplan.errors import NO, ExecplanError
from execplan.execution.world import ABSENT, FOLDER
from execplan.plan.seek import fold
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from execplan.engine.course import Attempt, RunState
    from execplan.engine.entries import Change
    from execplan.engine.journal import Entry
    from execplan.execution.model import Step
    from execplan.execution.world import State


class Undoing(NamedTuple):
    """What is taken back."""

    steps: tuple[str, ...]
    changes: tuple[Change, ...]
    """One for each path, that of the last step first."""
    folders: tuple[str, ...]
    """Those that were made, the outer ones first."""
    ticks: tuple[tuple[str, str, str], ...]
    """Steps, and the tasks that they ticked with the transcripts that these link to."""
    left: tuple[str, ...]
    """What can't be taken back, a line each."""
    whole: bool
    done: frozenset[str] = frozenset()
    """Paths that a rollback which was cut short has restored."""
    again: bool = False
    """Whether something was cut short while it was taken back."""


def undoing(course: RunState, steps: Mapping[str, Step], only: str | None, now: Callable[[str], State]) -> Undoing:
    """What a rollback of a run, or of one step, is to do; `steps` are those of all its revisions. Raises ExecplanError.

    `now` says what is at a path: what a failed attempt has changed may be taken back in part, or not be done in part.
    """
    said = _in_order(course)
    chosen = [name for name, _ in said if only in (None, name) and _may(steps, name)]
    chosen = list(dict.fromkeys(chosen))
    ahead = [(name, attempt) for name, attempt in said if attempt.performed is not None and not attempt.retaken]
    by_path: dict[str, list[tuple[str, Change]]] = {}
    for name, attempt in ahead:
        assert attempt.performed is not None  # as above
        for change in with_created_folders(attempt.performed.changes, attempt.performed.folders):
            if attempt.performed.ok or now(change.path) != change.before:
                by_path.setdefault(change.path, []).append((name, change))
    left = _outside(said, only)
    taken: list[Change] = []
    for path, every in by_path.items():
        taken += _taken(path, every, chosen, only, left)
    kept = [name for name, _ in ahead if name not in chosen and only is None]
    left += [f"{name}: what it changed stays: its step says rollback=false" for name in dict.fromkeys(kept)]
    found = compute_net_changes(taken)
    left += [f"{each.path}: it was no regular file, or could not be read" for each in found if not is_restorable(each)]
    found = [each for each in found if is_restorable(each)]
    folders = [each.path for each in found if each.before.kind == ABSENT and each.after.kind == FOLDER]
    changes = [each for each in reversed(found) if each.path not in folders]
    failed = any([attempt.performed is not None and not attempt.performed.ok for _, attempt in ahead])
    return Undoing(
        tuple(chosen),
        tuple(changes),
        tuple(sorted(folders, key=lambda each: each.split("/"))),
        _ticks(course, steps, chosen),
        tuple(dict.fromkeys(left)),
        only is None,
        again=failed,
    )


def going_on(course: RunState, rolling: Entry, steps: Mapping[str, Step]) -> Undoing:
    """What is left of a rollback that was cut short."""
    said = rolling.said
    return Undoing(
        tuple(said["steps"]),
        tuple([change_from(each) for each in said["changes"]]),
        tuple(said["folders"]),
        _ticks(course, steps, said["steps"]),
        tuple(said["undone_not"]),
        said["whole"],
        frozenset(course.restored),
        again=True,
    )


def _in_order(course: RunState) -> list[tuple[str, Attempt]]:
    """The attempts of the steps that are not rolled back, in the order of their ends."""
    found = [(name, each) for name, every in course.attempts.items() for each in every if name not in course.undone]
    return sorted(found, key=lambda each: each[1].entry)


def _may(steps: Mapping[str, Step], name: str) -> bool:
    return name not in steps or steps[name].rollback.enabled


def _taken(
    path: str, every: list[tuple[str, Change]], chosen: Collection[str], only: str | None, left: list[str]
) -> list[Change]:
    """The changes of a path that are taken back: the last ones, down to the first that stays."""
    taken: list[Change] = []
    for name, change in reversed(every):
        if name not in chosen:
            break
        taken.insert(0, change)
    over = [name for name, _ in every[: len(every) - len(taken)]]
    ours = [name for name in over if name in chosen]
    if ours and only is not None:
        raise _overwritten(only, path, over[-1])
    if ours:
        left.append(f"{path}: {over[-1]} changed it after {ours[-1]}, and what it changed stays")
    return taken


def _outside(said: list[tuple[str, Attempt]], only: str | None) -> list[str]:
    """What the steps did that nobody here can take back, of attempts that failed too."""
    return [
        f"{name}: {attempt.performed.outside}"
        for name, attempt in said
        if attempt.performed is not None and attempt.performed.outside and only in (None, name)
    ]


def _ticks(course: RunState, steps: Mapping[str, Step], chosen: Collection[str]) -> tuple[tuple[str, str, str], ...]:
    """The tasks that were ticked for one of the steps, or for another that completes the same task."""
    tasks = {fold(steps[name].task or "") for name in chosen if name in steps and steps[name].task}
    return tuple(
        [
            (name, task, transcript)
            for name, (task, transcript) in course.ticked.items()
            if name in chosen or (name in steps and fold(steps[name].task or "") in tasks)
        ]
    )


def _overwritten(step: str, path: str, later: str) -> ExecplanError:
    return ExecplanError(
        "step-overwritten",
        f"{later} changed {path} after {step}: taking back {step} alone would take that back too",
        exit=NO,
        hint=f"take {later} back first, or all of the run: execplan rollback --step {later}",
        candidates=(later,),
    )
