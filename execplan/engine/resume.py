"""A run that was paused, interrupted, killed or has failed goes on: what is done is checked, what was cut short is settled."""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING

from execplan.engine import begin, questions, record
from execplan.engine import fate as fates
from execplan.engine.asking import Asking
from execplan.engine.attempts import Attempts
from execplan.engine.entries import RESUMED, STOP, UNKNOWN, state_json
from execplan.engine.fate import StopReason
from execplan.engine.finish import finish, finish_failed, leg
from execplan.engine.hands import StepExecutor
from execplan.engine.left import Left
from execplan.engine.loop import Loop
from execplan.engine.opened import never_begun, opened
from execplan.engine.programs import programs_json
from execplan.engine.schedule import Schedule
from execplan.engine.signals import Signals
from execplan.engine.watch import FinishedRun
from execplan.errors import CHANGED, NO, USAGE, ExecplanError
from execplan.execution import states
from execplan.repo.amend import stop_archived
from execplan.repo.execution import standing
from execplan.repo.execution.policy import effective
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from execplan.engine.book import JournalWriter
    from execplan.engine.course import RunState, Question
    from execplan.engine.finish import RunSession
    from execplan.engine.place import RunPaths
    from execplan.engine.watch import RunObserver
    from execplan.execution.model import Step
    from execplan.repo.amend import Options
    from execplan.repo.execution.standing import Standing
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def resume(
    home: Home,
    ref: Ref,
    place: RunPaths,
    answer: str | None,
    watch: RunObserver,
    options: Options,
    *,
    jobs: int | None = None,
    hands: StepExecutor | None = None,
) -> FinishedRun:
    """Go on with a run; None for jobs: as many as before. Raises ExecplanError where it can't, or a disk fails."""
    existing(home)
    stop_archived(home, ref)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    if not os.path.lexists(place.journal):
        raise never_begun(ref, place)
    with opened(home, ref, place, watch, f"resume of the run {place.id} of {ref.id}") as book:
        _file_ended(place, book)
        stop_unfit(ref, place, book.course)
        begin.stop_underway(home, ref, place)
        own = leg(home, ref, place, effective(home), book, options)
        if book.course.is_agents:
            from execplan.engine.agent.answer import resume_agent_run

            return resume_agent_run(own, answer, watch)
        finished = finish_failed(own)
        if finished is not None:
            return finished
        question = book.course.question
        if question is None:
            stop_needless(book.course, answer)
            return _go(own, None, answer, "resume", jobs, hands or StepExecutor())
        said = questions.answer_to(question, answer)
        how = "resume" if said is not None else "terminal"
        said = said or watch.ask(question)
        if said is None:
            return FinishedRun(place.id, book.course.status, question)
        if said == STOP:
            return _stopped(own, question, how)
        return _go(own, question, said, how, jobs, hands or StepExecutor())


def _file_ended(place: RunPaths, book: JournalWriter) -> None:
    """File a run that was killed behind its last entry: its record, and the anchor of the ledger. Raises ExecplanError."""
    if book.course.status in (states.COMPLETED, states.ROLLED_BACK):
        record.save(place, record.record_of(place, book.course.document, book.course))
        book.ledger.update_anchor()


def stop_unfit(ref: Ref, place: RunPaths, course: RunState) -> None:
    """Refuse a run of which nothing is left to be done; raises ExecplanError."""
    if course.rolling is not None:
        raise ExecplanError(
            "run-cut-short",
            f"a rollback of the run {place.id} was cut short",
            exit=CHANGED,
            hint=f"finish it: execplan rollback {place.number} -p {ref.typed}",
        )
    if course.status in (states.COMPLETED, states.ROLLED_BACK):
        raise ExecplanError(
            "nothing-to-resume",
            f"the run {place.id} is {course.status.replace('_', ' ')}: nothing of it is left to be done",
            exit=NO,
            hint=f"approve the plan once more, and run it: execplan approve {ref.typed}; execplan run {ref.typed}",
        )


def stop_needless(course: RunState, answer: str | None) -> None:
    """Refuse an answer where none is waited for, and none may be needed; raises ExecplanError."""
    waits = not course.is_agents and (course.open_attempt() or Left.unknown_ends(course))
    if answer is not None and not waits:
        what = "the run waits for no answer"
        raise ExecplanError("bad-answer", what, exit=USAGE, hint="leave --answer out: execplan resume")


def steps_ahead(course: RunState, schedule: Schedule) -> list[Step]:
    """The steps that are still to be done."""
    done = {name for name, status in course.status_of.items() if status in states.SUCCESS_STATES} - course.undone
    return [step for step in course.document.steps if step.id in schedule.chosen - done]


def _stopped(own: RunSession, question: Question, how: str) -> FinishedRun:
    """End the run at its question; nothing is begun, so that no approval is needed."""
    Asking.record(own.book, question, STOP, how)
    schedule = Schedule(own.book.course.document, None, lambda path: False)
    fate = StopReason(fates.FAILED, question.step, "cancellation", f"stopped at the question: {question.words}")
    return finish(own, schedule, fate, "", [])


def follow(own: RunSession, finished: FinishedRun, jobs: int, hands: StepExecutor, deadline: float) -> FinishedRun:
    """Go on with the revision that a part of a run has led to, where an approval covers it; raises ExecplanError.

    The time limit, by time.monotonic(), is that of the part before.
    """
    if not finished.goes_on:
        return finished
    later = _go(own, None, None, "", jobs, hands, max(1, int(deadline - monotonic())))
    return later._replace(warnings=(*finished.warnings, *later.warnings))


def _go(
    own: RunSession,
    question: Question | None,
    said: str | None,
    how: str,
    jobs: int | None,
    hands: StepExecutor,
    seconds: int | None = None,
) -> FinishedRun:
    """Go on; raises ExecplanError."""
    home, ref, place, book = own.home, own.ref, own.place, own.book
    course = book.course
    found = standing.require(home, ref, run=place.id)
    assert found.now is not None  # what may run compiles to something
    assert found.approval is not None
    begin.stop_other(ref, place, course, found)
    document = found.now.current.document
    book.course.document = document
    ids = None if course.replans else course.begun["chosen"]
    bench = begin.bench_for(home, ref, place, found.now, book.watch, seconds)
    schedule = Schedule(document, ids, lambda path: hands.there(bench, path))
    ahead = steps_ahead(course, schedule)
    permit = begin.permit_of(found, schedule)
    begin.stop_unapproved(permit, found.approval, ahead)
    is_new = found.approval.id != course.approval["approval_id"]
    others = [] if is_new else begin.stop_other_programs(home, ref, place, course, ahead, found.now.policy)
    begin.keep_state(home, ref, place)
    jobs = 1 if document.constraints.require_sequential else jobs or course.begun["jobs"]
    with (
        begin.resumable(place, ref),
        Attempts(bench, book, hands, permit, jobs) as attempts,
        Signals(bench.stop, attempts.wake) as signals,
    ):
        asking = Asking(book, signals, bench.stop)
        left = Left(attempts, book, hands, schedule, asking)
        left.look()
        unknown = left.question()
        is_about_unknown = question is None or question.why == UNKNOWN
        about_unknown, way = (said, how) if is_about_unknown else (None, how)
        if unknown is not None and about_unknown is None:
            about_unknown, way = asking.ask(unknown), "terminal"
            if about_unknown is None:
                return _unanswered(own, unknown, bench.stop.signal)
        warnings = begin.warn(bench, [step.id for step in ahead], others)
        _write(own, found, left)
        book.watch.begin(place.id, ahead)
        loop = Loop(attempts, book, schedule, asking, jobs)
        if question is not None and not is_about_unknown:
            loop.answered(question, said or "", how)
        fate = left.settle(about_unknown, way) or loop.go()
        finished = finish(own, schedule, fate, bench.stop.signal, [*warnings, *attempts.warnings])
    return follow(own, finished, jobs, hands, attempts.deadline)


def _unanswered(own: RunSession, question: Question, signal: str) -> FinishedRun:
    """Leave a run as it is, because nobody answers what has to be known before it is resumed; raises ExecplanError."""
    course = own.book.course
    if signal or course.status in states.ENDED_RUN_STATES or course.question == question:
        return FinishedRun(own.place.id, course.status, question, signal)
    return finish(own, None, StopReason(fates.PAUSED, question.step, question=question), "", [])


def _write(own: RunSession, found: Standing, left: Left) -> None:
    """Take the run up; a further approval serves it from now on. Raises ExecplanError."""
    assert found.now is not None  # as above
    assert found.approval is not None
    course, binding = own.book.course, found.now.binding
    new = found.approval.id != course.approval["approval_id"]
    begin.use(own.home, own.place, found.approval)
    own.book.write(
        RESUMED,
        **begin.who(found),
        document=binding.document,
        revision=found.now.current.document.revision,
        failed=left.stay_failed,
        states={path: state_json(each) for path, each in binding.states.items()} if new else {},
        programs=programs_json(binding.programs) if new else {},
    )
