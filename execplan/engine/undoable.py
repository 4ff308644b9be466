"""Which steps of a run can be rolled back: those that it has, that ran, and that are not rolled back already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import revisions
from execplan.errors import CHANGED, INPUT, NO, ExecplanError
from execplan.execution import states

if TYPE_CHECKING:
    from collections.abc import Collection

    from execplan.engine.course import RunState
    from execplan.engine.place import RunPaths
    from execplan.execution.model import Step
    from execplan.repo.shelf import Ref


def steps_of(place: RunPaths, course: RunState) -> dict[str, Step]:
    """The steps of all revisions of a run, as the last one has them; raises ExecplanError."""
    from execplan.execution.documents.document import load
    from execplan.execution.model import ExecutionPlan
    from execplan.text import disk

    found: dict[str, Step] = {}
    earlier = [place.document, *[revisions.path_of(place, each.said["revision"]) for each in course.replans[:-1]]]
    for path in earlier if course.replans else ():
        data, _ = disk.read(path, revisions.LIMIT)
        found |= {step.id: step for step in load(data, ExecutionPlan, path).steps}
    return {**found, **{step.id: step for step in course.document.steps}}


def only_of(ref: Ref, place: RunPaths, course: RunState, steps: Collection[str], name: str | None) -> str | None:
    """The step that an id or a number names; raises ExecplanError for one that is none."""
    if name is None or name in steps:
        return name
    for step in course.document.steps:
        if str(step.number) == name:
            return step.id
    from difflib import get_close_matches

    near = get_close_matches(name, steps, n=3, cutoff=0.4) or list(steps)
    what = f"the run {place.id} has no step {name!r}"
    raise ExecplanError(
        "no-such-step", what, exit=INPUT, hint=f"see them: execplan show {ref.typed} --run {place.id}", candidates=near
    )


def stop_done(ref: Ref, place: RunPaths, course: RunState, only: str | None) -> None:
    """Refuse where nothing is to be taken back, or not yet; raises ExecplanError."""
    if course.status == states.ROLLED_BACK or (
        only is not None and (only in course.undone or not course.attempts.get(only))
    ):
        what = f"the run {place.id} is rolled back already" if course.status == states.ROLLED_BACK else ""
        what = what or f"{only} of the run {place.id} " + (
            "is rolled back already" if only in course.undone else "never ran"
        )
        hint = f"see what it did: execplan show {ref.typed} --run {place.id}"
        raise ExecplanError("nothing-to-roll-back", what, exit=NO, hint=hint)
    others = [name for name, _ in course.open_attempt() if only not in (None, name)]
    if others:
        raise ExecplanError(
            "run-cut-short",
            f"{', '.join(others)} of the run {place.id} was cut short: what it has changed is not known yet",
            exit=CHANGED,
            hint=f"go on with the run, or take back all of it: execplan resume {place.number} -p {ref.typed}; "
            f"execplan rollback {place.number} -p {ref.typed}",
        )
