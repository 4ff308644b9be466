"""A person takes an agent's run up again: what it waits for is answered, a new approval serves it, and the agent goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import begin as begins
from execplan.engine import fate as fates
from execplan.engine import questions
from execplan.engine.agent import begin
from execplan.engine.agent.asked import question_of
from execplan.engine.agent.follow import up_next
from execplan.engine.agent.moment import Moment, bench_of
from execplan.engine.asking import Asking
from execplan.engine.entries import REVISED, SKIP, SKIPPED, STOP
from execplan.engine.fate import Fate
from execplan.engine.schedule import Schedule
from execplan.engine.watch import Finished
from execplan.errors import USAGE, ExecplanError
from execplan.execution import states
from execplan.repo import author

if TYPE_CHECKING:
    from execplan.engine.course import Course, Question
    from execplan.engine.finish import Leg
    from execplan.engine.watch import Watch


def go_on(own: Leg, answer: str | None, watch: Watch) -> Finished:
    """Answer, if something is asked, and let the agent go on; no step is done here. Raises ExecplanError."""
    now = Moment(own, bench_of(own.home, own.ref, own.place, own.book.course))
    course = now.course
    question = course.question or (due(course, now.schedule, own.policy.checkpoint_interval) if answer else None)
    if question is None and answer is not None:
        what = "the run waits for no answer"
        raise ExecplanError("bad-answer", what, exit=USAGE, hint="leave --answer out: execplan resume")
    said = questions.answer_to(question, answer) if question is not None else None
    if question is not None and said is None:
        said = watch.ask(question)
        if said is None:
            return Finished(own.place.id, course.status, question)
    if question is not None and said == STOP:
        Asking.record(own.book, question, STOP, "resume")
        return now.end(Fate(fates.FAILED, question.step, "cancellation", f"stopped at the question: {question.words}"))
    _take_up(now, question)
    if question is not None and question.why not in REVISED:
        Asking.record(own.book, question, said or "", "resume")
        if said == SKIP:
            own.book.write(SKIPPED, step=question.step, reason="skipped by who was asked")
            now.tick(now.schedule.step[question.step])
    return now.settle()


def due(course: Course, schedule: Schedule, interval: int) -> Question | None:
    """What would be asked before the next call, though the run does not wait for it yet."""
    found = [question_of(step, course, interval) for step in up_next(course, schedule)]
    return next((each for each in found if each is not None), None)


def _take_up(now: Moment, question: Question | None) -> None:
    """Write that the run goes on; what failed is done again where it ended so, or where that is asked."""
    own, course = now.own, now.course
    found = begin.required(own.home, own.ref, own.place.id, "")
    begins.stop_other(own.ref, own.place, course, found)
    begins.keep_state(own.home, own.ref, own.place)
    asked = question.step if question is not None else ""
    failed = [name for name in course.named(states.FAILED) if name != asked] if course.ended is None else []
    begin.resumed(own.book, own.home, own.place, found, author.session() or "", failed=failed)
    now.schedule = Schedule(course.document, None, now.there)
