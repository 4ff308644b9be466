"""A run that is run once more, its document and its inputs as they were, and what differs in how its steps ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.engine import place as places
from execplan.engine import revisions
from execplan.engine.course import RunState
from execplan.engine.entries import state_from
from execplan.engine.opened import never_begun
from execplan.engine.runs import entries_of
from execplan.errors import CHANGED, ExecplanError
from execplan.execution.binding import Binding, drift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.entries import Performed
    from execplan.engine.place import RunPaths
    from execplan.execution.world import State
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Replayed(NamedTuple):
    """The run that is run once more."""

    place: RunPaths
    course: RunState


def find(home: Home, ref: Ref, name: str, now: Binding) -> Replayed:
    """The run that a name means, if what was approved now is what it ran, on what it found; raises ExecplanError."""
    place = places.named(home, ref, name)
    entries = entries_of(place)
    if not entries:
        raise never_begun(ref, place)
    said = entries[0].said
    before = {path: state_from(state) for path, state in said["states"].items()}
    lines = drift(Binding("", said["document"], before, ""), now._replace(policy=""))
    if lines:
        raise ExecplanError(
            "not-as-then",
            f"what would run now is not what the run {place.id} ran, or not on what it found",
            exit=CHANGED,
            hint="bring the files back as they were then, approve it, and try again; a rollback of that run may do it",
            candidates=lines,
        )
    return Replayed(place, RunState(revisions.document_of(place, entries), entries))


def differences(old: RunState, new: RunState) -> tuple[str, ...]:
    """How the steps ended otherwise, a line each; what they took of time is none."""
    return tuple([line for step in new.document.steps for line in _of_step(step.id, old, new)])


def _of_step(step: str, old: RunState, new: RunState) -> Iterator[str]:
    was, now = old.status_of.get(step, "not there"), new.status_of[step]
    if was != now:
        why = f": {new.why[step]}" if new.why.get(step) else ""
        yield f"{step}: was {was}, is {now}{why}"
    before, after = _attempts(old, step), _attempts(new, step)
    if len(before) != len(after):
        yield f"{step}: tried {len(before)} times then, {len(after)} now"
    if before and after:
        yield from _of_attempt(step, before[-1], after[-1])


def _of_attempt(step: str, old: Performed, new: Performed) -> Iterator[str]:
    if (old.exit, old.signal) != (new.exit, new.signal):
        yield f"{step}: ended with {_ending(old)}, ends with {_ending(new)}"
    if old.stdout != new.stdout:
        yield f"{step}: prints something else"
    before, after = _left(old), _left(new)
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            yield f"{step}: {path}: was not changed then"
        elif path not in after:
            yield f"{step}: {path}: was changed then, and is not"
        elif before[path] != after[path]:
            yield f"{step}: {path}: is left otherwise ({_shown(before[path])} → {_shown(after[path])})"


def _attempts(course: RunState, step: str) -> list[Performed]:
    return [each.performed for each in course.attempts.get(step, ()) if each.performed is not None]


def _left(performed: Performed) -> dict[str, State]:
    """By path, how the attempt has left it."""
    return {change.path: change.after for change in performed.changes}


def _ending(performed: Performed) -> str:
    return f"signal {performed.signal}" if performed.signal else f"exit {performed.exit}"


def _shown(state: State) -> str:
    return state.sha256[:12] or state.kind
