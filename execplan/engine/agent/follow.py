"""What follows in an agent's run from what is known of it: what is skipped or recovered, what is asked, and whether it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import fate as fates
from execplan.engine import order as orders
from execplan.engine import questions
from execplan.engine.entries import COVERED, SKIPPED
from execplan.engine.fate import Fate
from execplan.engine.recover import ALTERNATIVE, ASK, REPLAN, RETRY, SKIP, policy_cause
from execplan.execution import states

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.engine.book import Book
    from execplan.engine.course import Course
    from execplan.engine.schedule import Schedule
    from execplan.execution.model import Step

_OPEN = (states.PENDING, states.RUNNING, states.AWAITING)


def follow(book: Book, schedule: Schedule, tick: Callable[[Step], None]) -> Fate | None:
    """Write what follows; the fate of the run where it ends or waits for a person. Raises ExecplanError."""
    while True:
        fate = _failures(book, schedule, tick)
        if fate is not None:
            return fate
        course = book.course
        waiting, busy = schedule.order.waiting(course), _busy(course, schedule)
        found = schedule.following(course, waiting, busy, 1)
        for move in found.moves:
            _write(book, schedule, tick, move.kind, move.step, move.words)
        if found.moves:
            continue
        stuck = not (found.begin or busy or _stays(course, schedule))
        for name, other in waiting.items():
            if stuck or course.status_of[other] == states.SKIPPED:
                return _failed(course, name)
        return Fate(fates.DONE) if stuck else None


def up_next(course: Course, schedule: Schedule) -> list[Step]:
    """The steps that have their turn now, whoever has to be asked: those in hand first, then in their order.

    None while the run waits for a person.
    """
    if course.question is not None and course.question.why != COVERED:
        return []
    order, status_of = schedule.order, course.status_of
    found = []
    for step in schedule.steps:
        status = orders.status(step, course)
        ready = status in _OPEN and all([status_of.get(name) in states.SUCCESS_STATES for name in order.needs(step, course)])
        if status == states.RUNNING or (ready and not order.refused(step, course, schedule.there)):
            found.append(step)
    return sorted(found, key=lambda step: course.status_of[step.id] != states.RUNNING)


def _failures(book: Book, schedule: Schedule, tick: Callable[[Step], None]) -> Fate | None:
    """Draw what follows from the failures; the fate of the run where that is its end, or a question."""
    course = book.course
    for name in course.named(states.FAILED):
        step = schedule.step[name]
        kind = orders.leads_to(step, course)
        if orders.status(step, course) == states.PENDING or kind in (RETRY, REPLAN):
            continue
        if kind == SKIP:
            why = f"it failed, and is skipped then: {course.why.get(name, '')}"
            _write(book, schedule, tick, SKIPPED, name, why)
        elif kind == ASK:
            question = questions.failed(step, course.why.get(name, ""))
            return None if course.question == question else Fate(fates.PAUSED, name, question=question)
        elif kind != ALTERNATIVE or not schedule.stands_in(step):
            return _failed(course, name)
    return None


def _failed(course: Course, name: str) -> Fate:
    """A step has failed for good, and so does the run."""
    performed = course.attempts[name][-1].performed if course.attempts.get(name) else None
    cause = policy_cause(performed.cause) if performed is not None else ""
    return Fate(fates.FAILED, name, cause, f"{name} failed: {course.why.get(name, '')}")


def _busy(course: Course, schedule: Schedule) -> list[str]:
    """The steps that are in hand, and those that are to be tried again."""
    failed = [
        name for name in course.named(states.FAILED) if orders.status(schedule.step[name], course) != states.FAILED
    ]
    return [*course.named(states.RUNNING), *failed]


def _stays(course: Course, schedule: Schedule) -> bool:
    """Whether the run waits for a person or a new revision rather than for a step."""
    awaits = bool(course.named(states.AWAITING)) or course.question is not None
    return awaits or any(
        [orders.leads_to(schedule.step[name], course) == REPLAN for name in course.named(states.FAILED)]
    )


def _write(book: Book, schedule: Schedule, tick: Callable[[Step], None], kind: str, step: str, words: str) -> None:
    book.write(kind, step=step, **{"by" if kind == "recovered" else "reason": words})
    tick(schedule.step[step])
