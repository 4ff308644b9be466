"""The loop of a run: it begins what may begin, takes what comes back, and decides what follows, until nothing does."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from execplan.engine import fate, questions
from execplan.engine.entries import AGAIN, SKIP, SKIPPED, STOP
from execplan.engine.fate import StopReason
from execplan.engine.recover import ALTERNATIVE, ASK, REPLAN, RETRY, policy_cause, recover
from execplan.engine.recover import SKIP as SKIP_IT
from execplan.errors import CHANGED, ExecplanError
from execplan.execution import states

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.engine.asking import Asking
    from execplan.engine.attempts import Attempts, Returned
    from execplan.engine.book import JournalWriter
    from execplan.engine.course import Question
    from execplan.engine.entries import Performed
    from execplan.engine.schedule import Following, Schedule
    from execplan.execution.model import Step

_GLANCE: Final = 0.5
"""Seconds after which it looks whether somebody has stopped the run who could not wake it."""


class Loop:
    """One leg of a run, from its beginning or a resume to where it stops."""

    def __init__(self, attempts: Attempts, book: JournalWriter, schedule: Schedule, asking: Asking, jobs: int) -> None:
        self.fate: StopReason | None = None
        """Once it is known nothing is begun; what runs is waited for."""
        self._attempts, self._book, self._schedule, self._asking, self._jobs = attempts, book, schedule, asking, jobs
        self._course, self._bench = book.course, attempts.bench
        self._waiting: dict[str, str] = {}
        """By step that failed, the one that is to stand in for it."""
        self._delayed: dict[str, float] = {}
        """By step that is to be tried again, when."""
        self._questions: list[Question] = []

    def go(self) -> StopReason:
        """Go on until nothing follows; raises what else than a step has failed, when all that ran has ended."""
        self._take_up()
        while self.fate is None or self._attempts.running:
            if self.fate is None:
                self._look()
            if self.fate is None:
                self._guard(self._follow)
            if self._attempts.running or (self._delayed and self.fate is None):
                self._wait()
        if self.fate.error is not None:
            raise self.fate.error
        return StopReason(fate.SIGNAL) if self._bench.stop.is_set() and self.fate.kind != fate.DONE else self.fate

    def _take_up(self) -> None:
        """Draw what follows from failures behind which the run was killed."""
        for name in self._course.named(states.FAILED):
            last = self._course.attempts[name][-1]
            if last.performed is not None:
                self._failed(self._schedule.step[name], last.performed)

    def _look(self) -> None:
        """See whether the run was stopped, or has taken too long."""
        stop = self._bench.stop
        if stop.is_set():
            self.fate = StopReason(fate.SIGNAL)
        elif monotonic() >= self._attempts.deadline and not set(self._course.status_of.values()) <= set(states.SUCCESS_STATES):
            self._end(StopReason(fate.FAILED, cause="timeout", reason="the run took longer than it may"))

    def _end(self, found: StopReason) -> None:
        """Begin nothing more, if that is not known already; other trouble than a step's goes before all."""
        if self.fate is None or (found.error is not None and self.fate.error is None):
            self.fate = found
        if found.error is not None and not self._bench.stop.is_set():
            self._bench.stop.set("trouble")

    def _follow(self) -> None:
        """Try again what is due, ask what is to be asked, and begin what may begin."""
        for name in [name for name, when in self._delayed.items() if monotonic() >= when]:
            del self._delayed[name]
            self._start(self._schedule.step[name])
        if self._questions and not self._busy:
            self._ask(self._questions.pop(0))
        elif not self._questions:
            found = self._following()
            if found is not None and self.fate is None:
                self._begin(found)

    def _following(self) -> Following | None:
        """What may begin, once all that follows without it is written; None where the run ends or asks instead."""
        while True:
            found = self._schedule.following(self._course, self._waiting, self._busy, self._jobs)
            for move in found.moves:
                self._write(move.kind, move.step, move.words)
            lost = self._lost(found)
            if lost:
                self._fail(lost, self._course.attempts[lost][-1].performed)
                return None
            if not found.moves:
                return found

    def _write(self, kind: str, step: str, words: str) -> None:
        """Write what is said of a step that is not run, and tick what is done with it."""
        self._book.write(kind, step=step, **{"by" if kind == "recovered" else "reason": words})
        self._attempts.tick(self._schedule.step[step])

    def _lost(self, found: Following) -> str:
        """A step whose alternative has not stood in for it, or never will, for that waits for it; or nothing."""
        stuck = not (found.moves or found.begin or self._busy or self._questions)
        for name, other in self._waiting.items():
            if self._course.status_of[name] == states.FAILED and (
                stuck or self._course.status_of[other] == states.SKIPPED
            ):
                return name
        return ""

    @property
    def _busy(self) -> list[str]:
        """The steps that run, and those that are about to be tried again: they keep their places."""
        return [*self._attempts.running, *self._delayed]

    def _begin(self, found: Following) -> None:
        """Begin steps, where nothing is asked before them; the run is done when there are none."""
        if not found.begin:
            if not self._busy:
                self.fate = StopReason(fate.DONE)
            return
        question = questions.checkpoint(self._course, self._bench.policy.checkpoint_interval)
        question = question or questions.confirm(self._course, found.begin[0])
        if question is not None:
            self._questions.append(question)
            return
        for step in found.begin:
            self._start(step)

    def _start(self, step: Step) -> None:
        """Begin an attempt; where it is not permitted any more nothing further is, and what runs comes to its end."""
        try:
            if self.fate is None:
                self._attempts.begin(step)
        except ExecplanError as error:
            if error.code != "approval-expired":
                raise
            self.fate = StopReason(fate.TROUBLE, step.id, error=error)

    def _wait(self) -> None:
        """Wait for what comes back, or for when a step is to be tried again."""
        ahead = [when - monotonic() for when in self._delayed.values()] if self.fate is None else []
        returned = self._attempts.wait(max(min([_GLANCE, *ahead]), 0.0))
        if returned is not None:
            self._guard(lambda: self._take(returned))

    def _guard(self, work: Callable[[], None]) -> None:
        """Do something; what is wrong with it is raised when all that runs has ended."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - as it says
            self._end(StopReason(fate.TROUBLE, error=error))

    def _take(self, returned: Returned) -> None:
        """See what has come of an attempt; raises ExecplanError where that can't be written down."""
        step, error = returned.step, returned.error
        if isinstance(error, ExecplanError) and error.exit == CHANGED and not returned.begun:
            self._end(StopReason(fate.FAILED, step.id, "drift", "; ".join([error.message, *error.candidates])))
        elif error is not None:
            self._end(StopReason(fate.TROUBLE, step.id, error=error))
        elif returned.performed is not None:
            try:
                self._attempts.note(step, returned.attempt, returned.performed)
            except ExecplanError as failed:
                if failed.exit != CHANGED:
                    raise
                why = f"what {step.id} has done can't be taken back: {failed.message}"
                self._end(StopReason(fate.FAILED, step.id, "drift", "; ".join([why, *failed.candidates])))
                return
            if not returned.performed.ok:
                self._failed(step, returned.performed)

    def _failed(self, step: Step, performed: Performed) -> None:
        """Do what the plan says about a failure; nothing more where the run ends anyway."""
        if performed.cause == "interrupted" and self._bench.stop.is_set():
            return
        found = recover(step, performed, self._course.tries(step.id))
        if found.kind == SKIP_IT:
            self._write(SKIPPED, step.id, f"it failed, and is skipped then: {performed.reason}")
        elif monotonic() >= self._attempts.deadline:
            self._fail(step.id, performed._replace(cause="timeout"))
        elif found.kind == RETRY:
            self._delayed[step.id] = monotonic() + found.seconds
        elif found.kind == ASK:
            self._questions.append(questions.failed(step, performed.reason))
        elif found.kind == ALTERNATIVE and (other := self._schedule.stands_in(step)):
            self._waiting[step.id] = other
        elif found.kind == REPLAN:
            self._end(
                StopReason(fate.REPLAN, step.id, policy_cause(performed.cause), f"{step.id} failed: {performed.reason}")
            )
        else:
            self._fail(step.id, performed)

    def _fail(self, name: str, performed: Performed | None) -> None:
        """A step has failed for good, and so does the run."""
        assert performed is not None  # only what has ended has failed
        self._end(StopReason(fate.FAILED, name, policy_cause(performed.cause), f"{name} failed: {performed.reason}"))

    def _ask(self, question: Question) -> None:
        """Ask, and do what is answered; without an answer the run is paused."""
        begun = monotonic()
        answer = self._asking.ask(question)
        self._attempts.deadline += monotonic() - begun
        if self._bench.stop.is_set():
            self.fate = StopReason(fate.SIGNAL)
        elif answer is None:
            self.fate = StopReason(fate.PAUSED, question.step, question=question)
        else:
            self.answered(question, answer, "terminal")

    def answered(self, question: Question, answer: str, how: str) -> None:
        """Write an answer down, and do what it says."""
        self._asking.write(question, answer, how)
        if answer == STOP:
            self._end(StopReason(fate.FAILED, question.step, "cancellation", f"stopped at the question: {question.words}"))
        elif answer == SKIP:
            self._write(SKIPPED, question.step, "skipped by who was asked")
        elif answer == AGAIN:
            self._delayed[question.step] = monotonic()
