"""What a run that was killed or interrupted has left undone of its entries: looked at first, then written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.engine import fate as fates
from execplan.engine import questions
from execplan.engine.attempts import is_unknown, may_not_repeat
from execplan.engine.entries import ASK, GO, RETAKEN, SKIP, SKIPPED, STOP
from execplan.engine.fate import StopReason
from execplan.engine.schedule import runs_beside
from execplan.errors import CHANGED, ExecplanError
from execplan.execution import states
from execplan.execution.binding import sanitize_state, describe_difference

if TYPE_CHECKING:
    from collections.abc import Collection

    from execplan.engine.asking import Asking
    from execplan.engine.attempts import Attempts
    from execplan.engine.book import JournalWriter
    from execplan.engine.course import Attempt, RunState, Question
    from execplan.engine.entries import Change, Performed
    from execplan.engine.files.ground import WorkspaceFiles
    from execplan.engine.hands import StepExecutor
    from execplan.engine.schedule import Schedule
    from execplan.execution.model import Step


class Cut(NamedTuple):
    """An attempt that is not at its end, and what is to be done about it."""

    step: Step
    number: int
    performed: Performed | None
    """How it ended, where that is to be written; of an unknown one, how it did if it has done its work."""
    changes: tuple[Change, ...]
    """What is to be taken back, where it did not come to its end."""
    folders: tuple[str, ...]
    unknown: bool = False
    """Whether somebody has to say if it has done its work."""


class Left:
    """It looks before the run is taken up again, and writes behind that."""

    def __init__(self, attempts: Attempts, book: JournalWriter, hands: StepExecutor, schedule: Schedule, asking: Asking) -> None:
        self.stay_failed: list[str] = []
        """The steps that have failed before the run was cut short, and of which nothing more is written yet."""
        self._attempts, self._book, self._hands = attempts, book, hands
        self._schedule, self._asking = schedule, asking
        self._cut: list[Cut] = []

    @staticmethod
    def unknown_ends(course: RunState) -> list[tuple[Step, Attempt]]:
        """The commands that were interrupted, may run only once, and may have done their work by then."""
        found = []
        for step in course.document.steps:
            last = course.attempts.get(step.id, [])[-1:]
            performed = last[0].performed if last else None
            open_still = course.status_of[step.id] not in states.SUCCESS_STATES
            if open_still and performed is not None and not last[0].retaken and is_unknown(step, performed):
                found.append((step, last[0]))
        return found

    def look(self) -> None:
        """Find out what was cut short, and whether what is done is as it was left; raises ExecplanError, nothing is written."""
        course, step_of = self._book.course, self._schedule.step
        for name, attempt in course.open_attempt():
            self._cut.append(self._settled(step_of[name], attempt))
        for step, attempt in self.unknown_ends(course):
            performed = attempt.performed
            assert performed is not None  # it has an end
            told = performed._replace(
                ok=True, cause="", reason="it was interrupted, and somebody said that it was done"
            )
            self._cut.append(Cut(step, attempt.number, told, performed.changes, performed.folders, unknown=True))
        unknown = {each.step.id for each in self._cut}
        for name in [step.id for step in course.document.steps if step.id not in unknown]:
            self._look_at_failed(step_of[name])
        spared = {change.path for cut in self._cut for change in cut.changes}
        stop_drifted(course, self._attempts.bench.ground, spared)

    def question(self) -> Question | None:
        """The first question that has to be answered before the run can be resumed."""
        return next((questions.unknown(cut.step.id) for cut in self._cut if cut.unknown), None)

    def settle(self, answer: str | None, how: str) -> StopReason | None:
        """Write down what was found; the fate of the run where that ends here. Raises ExecplanError."""
        for cut in self._cut:
            if not cut.unknown:
                self._write(cut)
        for cut in self._cut:
            if cut.unknown:
                fate = self._ask(cut, answer, how)
                answer = None
                if fate is not None:
                    return fate
        for step in self._book.course.document.steps:
            if self._book.course.status_of[step.id] in (states.COMPLETED, states.RECOVERED):
                self._attempts.tick(step)
        return None

    def _settled(self, step: Step, attempt: Attempt) -> Cut:
        """What has become of an attempt whose end was not written."""
        found = self._hands.settle(self._attempts.bench, step, attempt)
        performed, changes = found.performed, self._own(step, found.changes)
        if performed is not None:
            performed = performed._replace(changes=self._own(step, performed.changes))
        if performed is not None and performed.cause == "interrupted":
            if may_not_repeat(step):
                told = performed._replace(
                    ok=True, cause="", reason="it was cut short, and somebody said that it was done"
                )
                return Cut(step, attempt.number, told, performed.changes, performed.folders, unknown=True)
            return Cut(step, attempt.number, None, performed.changes, performed.folders)
        return Cut(step, attempt.number, performed, changes, found.folders, unknown=found.kind == "unknown")

    def _own(self, step: Step, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """Of a step that may have run beside others only what it declares: what else has changed may be theirs."""
        alone = self._book.course.begun["jobs"] == 1 or not runs_beside(step)
        return changes if alone else tuple([each for each in changes if each.declared])

    def _look_at_failed(self, step: Step) -> None:
        """A failure may not have been taken back yet; and what follows from it may not have been written."""
        course = self._book.course
        last = course.attempts.get(step.id, [])[-1:]
        performed = last[0].performed if last else None
        if performed is None or performed.ok or course.status_of[step.id] != states.FAILED:
            return
        if step.rollback.enabled and not last[0].retaken:
            self._cut.append(Cut(step, last[0].number, None, performed.changes, performed.folders))
        asked = course.question is not None and (course.question.why, course.question.step) == (ASK, step.id)
        if course.ended is None and performed.cause != "interrupted" and not asked:
            self.stay_failed.append(step.id)

    def _write(self, cut: Cut) -> None:
        """Write how an attempt ended, or take it back, so that it may run again."""
        if cut.performed is not None:
            self._attempts.note(cut.step, cut.number, cut.performed)
        elif cut.changes or cut.folders:
            self._attempts.take_back(cut.step, cut.number, cut.changes, cut.folders)
        else:
            self._book.write(RETAKEN, step=cut.step.id, attempt=cut.number, changes=[])

    def _ask(self, cut: Cut, answer: str | None, how: str) -> StopReason | None:
        """Ask about an attempt of which nobody knows how it ended, and do what is answered."""
        question = questions.unknown(cut.step.id)
        said, how = (answer, how) if answer is not None else (self._asking.ask(question), "terminal")
        if self._attempts.bench.stop.is_set():
            return StopReason(fates.SIGNAL)
        if said is None:
            return StopReason(fates.PAUSED, cut.step.id, question=question)
        self._asking.write(question, said, how)
        if said == STOP:
            return StopReason(fates.FAILED, cut.step.id, "cancellation", f"stopped at the question: {question.words}")
        self._write(cut if said == GO else cut._replace(performed=None))  # again: it is pending then
        if said == SKIP:
            self._book.write(SKIPPED, step=cut.step.id, reason="skipped by who was asked")
        return None


def stop_drifted(course: RunState, ground: WorkspaceFiles, spared: Collection[str]) -> None:
    """Refuse where what the completed steps have left is not as they left it, spared paths aside; raises ExecplanError."""
    done = [change.path for name, change in course.changes() if course.status_of.get(name) in states.SUCCESS_STATES]
    wrong = []
    for path in dict.fromkeys([each for each in done if each not in spared]):
        why = describe_difference(sanitize_state(course.expected[path]), sanitize_state(ground.state(path)))
        wrong += [f"{path}: {why}"] if why else []
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ExecplanError(
            "drifted",
            f"what the run has done is not as it left it: {wrong[0]}{more}",
            exit=CHANGED,
            hint="bring it back as it was and resume, or roll the run back: execplan resume; execplan rollback",
            candidates=wrong,
        )
