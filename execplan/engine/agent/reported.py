"""What became of a report, and what has to be known of the run before one is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.engine.agent.follow import up_next
from execplan.engine.agent.judge import COMPLETED, Said
from execplan.engine.course import Attempt, Course
from execplan.engine.files.ground import Ground
from execplan.engine.opened import redaction
from execplan.engine.schedule import Schedule
from execplan.engine.steps.named import bound, declared
from execplan.errors import CHANGED, INPUT, ExecplanError
from execplan.execution import states
from execplan.execution.binding import sanitize_state, describe_difference
from execplan.execution.world import ABSENT

if TYPE_CHECKING:
    from execplan.engine.agent.current import Current
    from execplan.engine.agent.recovery import Recovery
    from execplan.engine.entries import Change, Performed
    from execplan.engine.steps.bench import Bench
    from execplan.engine.watch import Finished
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.repo.home import Home


class Reported(NamedTuple):
    """What became of a report."""

    run: str
    """Nothing in a dry run before the run has begun."""
    step: Step
    performed: Performed | None
    """How the attempt ended, by what was said and by the checks; None of what was recorded before."""
    ok: bool
    again: bool
    """Whether it was recorded already, in the same words."""
    reason: str
    changes: tuple[Change, ...]
    recovery: Recovery | None
    """What follows from a failure."""
    up_next: tuple[Step, ...]
    status: str
    """Of the run."""
    finished: Finished | None
    task: str
    """The words of the task that was ticked."""
    warnings: tuple[str, ...] = ()
    untested: bool = False
    """Whether the test behind the step was left out, as it is in a dry run."""


def recorded(home: Home, known: Current, step: str, said: Said) -> Reported | None:
    """What was recorded before in the same words; raises ExecplanError for a step that is settled otherwise."""
    course = known.course
    own = next((each for each in course.document.steps if step in (each.id, str(each.number))), None)
    last = course.attempts.get(own.id, [])[-1:] if own is not None else []
    performed = last[0].performed if last else None
    if own is None or performed is None or own.id in course.undone:
        return None
    same = performed.ok == (said.status == COMPLETED) and performed.reason == redaction().text(said.result)
    if same and course.status_of[own.id] != states.PENDING:
        return _again(home, known, own, performed)
    if course.status_of[own.id] in states.SUCCESS_STATES and known.goes_on:
        raise ExecplanError(
            "bad-transition",
            f"{own.id} is {course.status_of[own.id]} already: {performed.reason}",
            exit=INPUT,
            hint="what is settled is not reported again; see what has its turn: execplan handoff",
        )
    return None


def _again(home: Home, known: Current, step: Step, performed: Performed) -> Reported:
    course, schedule = known.course, schedule_of(home, known.course)
    return Reported(
        known.place.id,
        step,
        None,
        performed.ok,
        again=True,
        reason=performed.reason,
        changes=performed.changes,
        recovery=None,
        up_next=tuple(up_next(course, schedule)) if known.goes_on else (),
        status=course.status,
        finished=None,
        task="",
    )


def step_of(document: ExecutionPlan, name: str) -> Step:
    """The step that an id or a number names; raises ExecplanError."""
    found = next((each for each in document.steps if name in (each.id, str(each.number))), None)
    if found is None:
        known = [each.id for each in document.steps]
        hint = "name one of these, or its number"
        raise ExecplanError("no-such-step", f"there is no step {name!r}", exit=INPUT, hint=hint, candidates=known)
    return found


def in_hand(course: Course, step: Step) -> Attempt | None:
    """The attempt of a step that is in hand."""
    last = course.attempts.get(step.id, [])[-1:]
    return last[0] if last and last[0].performed is None and not last[0].retaken else None


def schedule_of(home: Home, course: Course) -> Schedule:
    """The order of the steps, as the files are now."""
    ground = Ground(home)
    return Schedule(course.document, None, lambda path: ground.state(path).kind != ABSENT)


def stop_drifted(bench: Bench, course: Course, step: Step) -> None:
    """Refuse where what a step only reads is not as it was approved, or as the run has left it; raises ExecplanError."""
    written, wrong = set(declared(step)), []
    for path in bound(step):
        wanted = course.expected.get(path)
        if path not in written and wanted is not None:
            why = describe_difference(sanitize_state(wanted), sanitize_state(bench.ground.state(path)))
            wrong += [f"{path}: {why}"] if why else []
    if wrong:
        raise ExecplanError(
            "drifted",
            f"what {step.id} reads is not as it should be: {wrong[0]}",
            exit=CHANGED,
            hint="bring it back as it was and report again, or report that the step has failed",
            candidates=wrong,
        )
