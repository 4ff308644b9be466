"""A step that writes files: all of them, or none."""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha256

from execplan.engine.entries import Change
from execplan.engine.files.counting import count_changed_lines
from execplan.engine.steps.acted import ERROR, Acted
from execplan.engine.steps.named import folders_of
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.binding import describe_difference
from execplan.execution.evaluation.outcome import ImpossibleError, compute_changes, format_change
from execplan.execution.world import ABSENT, FILE, FOLDER, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.engine.commands.transcript import Transcript
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.evaluation.after import FileChange
    from execplan.execution.model import Step

_MODES = (0o644, 0o755)
"""Those that a plan or a diff can say: they stand for what the user's umask lets of them."""
_SPARE = 1 << 16


class _Kept:
    """The files as they were before the step, by what was kept of them."""

    def __init__(self, bench: RunContext, before: Mapping[str, State]) -> None:
        self.bench = bench
        self.before = before

    def state(self, path: str) -> State:
        """What was there."""
        return self.before[path]

    def read(self, path: str) -> bytes:
        """The bytes of a file; raises ImpossibleError, ExecplanError."""
        if not self.before[path].sha256:
            raise ImpossibleError(f"{path} can't be read, or has more than a gigabyte: it can't be kept")
        return self.bench.store.get(self.before[path].sha256)


def planned(bench: RunContext, step: Step, before: Mapping[str, State]) -> list[tuple[FileChange, Change]]:
    """What the step makes of its files as they were; raises ImpossibleError, ExecplanError."""
    return [(each, _change(each, before[each.path])) for each in compute_changes(step, _Kept(bench, before))]


def write(bench: RunContext, step: Step, before: Mapping[str, State], transcript: Transcript) -> Acted:
    """Write the files of a step; what is the step's own failure is told, and then all is as it was."""
    try:
        todo = planned(bench, step, before)
    except ImpossibleError as why:
        return Acted(ERROR, str(why))
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:  # a backup, or the disk that it lies on
            raise
        return Acted(ERROR, f"{error.message}; {error.hint}" if error.hint else error.message)
    for changed, change in todo:
        wrong = describe_difference(change.before, bench.ground.state(change.path))
        if wrong:
            return Acted("drift", f"{change.path}: {wrong}")
        transcript.note(_told(change))
        transcript.out(format_change(changed).encode("utf-8", "surrogateescape"))
    done: list[Change] = []
    folders: list[str] = []
    held = ballast(bench, step)
    _hold(held, todo)
    try:
        for changed, change in todo:
            done.append(change)
            if changed.after is None:
                bench.ground.remove(change.path)
            else:
                folders += bench.ground.write(change.path, changed.after, change.after.mode)
    except ExecplanError as error:
        drop(held)
        return _undone(bench, done, before, error)
    drop(held)
    return Acted(changes=tuple(done), folders=tuple(folders))


def folders_made(bench: RunContext, before: Mapping[str, State]) -> tuple[str, ...]:
    """The folders that were missing before the step and are there, the outer ones first."""
    missing = [folder for folder in folders_of(list(before)) if before.get(folder, State(FOLDER)).kind == ABSENT]
    return tuple([folder for folder in missing if bench.ground.state(folder).kind == FOLDER])


def _undone(bench: RunContext, done: Sequence[Change], before: Mapping[str, State], error: ExecplanError) -> Acted:
    """The failure, with what was written taken back; where that fails too, with what is left to be taken back."""
    from execplan.engine.steps.take_back import take_back

    folders = folders_made(bench, before)
    try:
        take_back(bench, done, folders)
    except ExecplanError as worse:
        return Acted(ERROR, f"{error.message}; {worse.message}", changes=tuple(done), folders=folders)
    return Acted(ERROR, error.message)


def _change(changed: FileChange, before: State) -> Change:
    """What becomes of a path, by the states and the lines."""
    old = changed.before if before.kind == FILE else None
    added, removed = count_changed_lines(old or b"", changed.after or b"")
    if changed.after is None:
        return Change(changed.path, before, State(ABSENT), added, removed)
    kept = changed.before is not None and changed.mode == changed.old_mode
    mode = changed.mode & ~_umask() if changed.mode in _MODES and not kept else changed.mode
    after = State(FILE, sha256(changed.after).hexdigest(), mode, size=len(changed.after))
    return Change(changed.path, before, after, added, removed)


def _told(change: Change) -> str:
    verb = "create" if change.before.kind == ABSENT else "delete" if change.after.kind == ABSENT else "change"
    return f"{verb} {change.path}: +{change.added} -{change.removed} lines"


@cache
def _umask() -> int:
    """The user's; it can only be had by setting it, and other threads may make files meanwhile."""
    found = os.umask(0o077)
    os.umask(found)
    return found


def ballast(bench: RunContext, step: Step) -> str:
    """The file that holds the room for taking a step back, on the same disk."""
    return os.path.join(bench.place.state, f"{step.id}.ballast")


def _hold(path: str, todo: Sequence[tuple[FileChange, Change]]) -> None:
    """Hold as much room as taking several changes back takes, so that it is there on a disk that is full by then."""
    if len(todo) < 2:
        return
    try:
        with open(path, "wb") as file:
            file.write(bytes(_SPARE + sum([len(changed.before or b"") for changed, _ in todo])))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        drop(path)


def drop(path: str) -> None:
    """Let go of what is held, if it is."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
