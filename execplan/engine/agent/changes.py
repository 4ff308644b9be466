"""What an agent has changed of what a step writes: how it is now, against how it was to be found."""

from __future__ import annotations

from execplan.engine.entries import Change
from execplan.engine.files import tree
from execplan.engine.files.walk import Walk
from execplan.engine.steps.named import declared, folders_of
from execplan.execution.binding import sanitize_state, describe_difference
from execplan.execution.world import ABSENT, FOLDER, State
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.engine.course import Course
    from execplan.engine.steps.bench import Bench
    from execplan.execution.model import Step

_MOST = 2000
"""Files of a folder beyond which it is not taken back file by file."""


class Seen(NamedTuple):
    """What was seen."""

    changes: tuple[Change, ...]
    folders: tuple[str, ...]
    """Those that were made, the outer ones first."""
    unknown: tuple[str, ...]
    """The paths of which nobody knows how they were before."""


def look(bench: Bench, step: Step, before: Mapping[str, State], course: Course, *, keep: bool) -> Seen:
    """Look at what a step writes; what is there now is kept, if so. Raises ExecplanError."""
    changes: list[Change] = []
    inner: list[str] = []
    unknown = []
    for path in declared(step):
        old = before.get(path, course.expected.get(path))
        found = bench.store.keep_path(bench.ground, path) if keep else bench.ground.state(path)
        if old is None:
            unknown += [path] if found.kind != ABSENT else []
        elif found.kind == FOLDER:
            files = dict(_below(bench, path, keep=keep)) if old.kind == ABSENT else {}
            inner += [path] if old.kind == ABSENT else []
            inner += [name for name, state in files.items() if state.kind == FOLDER]
            unknown += [path] if old.kind != ABSENT or len(files) >= _MOST else []
            changes += [
                _change(bench, name, State(ABSENT), state) for name, state in files.items() if state.kind != FOLDER
            ]
        elif describe_difference(sanitize_state(old), sanitize_state(found)):
            changes.append(_change(bench, path, old, found))
    made = [folder for folder in folders_of(declared(step)) if _is_made(bench, folder, before, course)]
    folders = sorted({*made, *inner} - _known(course), key=lambda each: each.split("/"))
    return Seen(tuple(changes), tuple(folders), tuple(unknown))


def _below(bench: Bench, path: str, *, keep: bool) -> Iterator[tuple[str, State]]:
    """What lies in a folder that was not there before, as far as anybody would take it back one by one."""
    walk = Walk(bench.home, bench.ground)
    walk.declared(path)
    for name in sorted(walk.found)[:_MOST]:
        if name.startswith(f"{path}/"):
            yield name, bench.store.keep_path(bench.ground, name) if keep else bench.ground.state(name)


def _change(bench: Bench, path: str, old: State, new: State) -> Change:
    return Change(path, old, new, *tree.count(bench.store, bench.ground, path, old, new))


def _is_made(bench: Bench, folder: str, before: Mapping[str, State], course: Course) -> bool:
    """Whether a folder was missing, and is there."""
    was = before.get(folder, course.expected.get(folder))
    return was is not None and was.kind == ABSENT and bench.ground.state(folder).kind == FOLDER


def _known(course: Course) -> set[str]:
    """The folders that attempts before have made, and that were not taken back."""
    return {
        folder
        for step, attempts in course.attempts.items()
        for each in attempts
        if each.performed is not None and not each.retaken and step not in course.undone
        for folder in each.performed.folders
    }
