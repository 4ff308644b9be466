"""What a report would record, with nothing written, kept or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import begin as begins
from execplan.engine import place as places
from execplan.engine.agent import begin, current
from execplan.engine.agent.asked import question_of
from execplan.engine.agent.judge import COMPLETED, Said, judged
from execplan.engine.agent.moment import bench_of
from execplan.engine.agent.reported import Reported, in_hand, recorded, schedule_of, step_of, stop_drifted
from execplan.engine.course import Attempt, Course
from execplan.engine.opened import redaction
from execplan.engine.steps.named import declared
from execplan.repo.execution import standing

if TYPE_CHECKING:
    from execplan.engine.agent.current import Current
    from execplan.engine.place import Place
    from execplan.engine.schedule import Schedule
    from execplan.execution.model import Step
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def would(home: Home, ref: Ref, name: str, said: Said) -> Reported:
    """What would be recorded, with nothing written, kept or run; raises ExecplanError as it would."""
    known = begin.known(home, ref, name)
    before = recorded(home, known, name, said) if known is not None else None
    if before is not None:
        return before
    place, course, step, attempt = ahead(home, ref, known, name)
    bench = bench_of(home, ref, place, course)
    if said.status == COMPLETED:
        stop_drifted(bench, course, step)
    checked, seen = judged(bench, step, attempt, course, said, None)
    return Reported(
        place.id if known is not None and known.goes_on else "",
        step,
        None,
        not checked.cause,
        again=False,
        reason=redaction().text(checked.reason or said.result),
        changes=seen.changes,
        recovery=None,
        up_next=(),
        status=course.status,
        finished=None,
        task="",
        untested=said.status == COMPLETED and step.validation.test_after is not None,
    )


def ahead(home: Home, ref: Ref, known: Current | None, name: str) -> tuple[Place, Course, Step, Attempt]:
    """The run, the step and the attempt that a report would be of; raises ExecplanError where there can be none."""
    if known is not None and known.goes_on:
        place, course = known.place, known.course
    else:
        begins.stop_underway(home, ref)
        place, course = places.following(home, ref), Course(standing.look(home, ref).current.document)
    step = step_of(course.document, name)
    attempt = in_hand(course, step)
    if attempt is None:
        attempt = _permitted(home, ref, known, course, step, schedule_of(home, course))
    return place, course, step, attempt


def _permitted(home: Home, ref: Ref, known: Current | None, course: Course, step: Step, schedule: Schedule) -> Attempt:
    """The attempt that would be begun; raises ExecplanError where it is not permitted."""
    goes_on = known is not None and known.goes_on
    if known is not None and goes_on:
        current.stop_waiting(ref, known)
    found = begin.required(home, ref, known.place.id if known is not None and goes_on else "", step.id)
    assert found.approval is not None
    course.expected = {**found.approval.binding.states, **course.expected}
    permit = begins.permit_of(found, schedule)
    given, question = permit.begin(step, course), question_of(step, course, permit.interval)
    if question is not None and known is not None:
        raise current.waits(ref, known.place, question)
    states_of = {path: course.expected[path] for path in declared(step) if path in course.expected}
    return Attempt(len(course.attempts.get(step.id, ())) + 1, None, states_of, given.approved_by)
