"""The attempts of a run's steps: each in a thread of its own, with its entries before it and behind it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from execplan.engine.entries import INTENT, RESULT, RETAKEN, TICKED, change_json, performed_json, state_json
from execplan.engine.programs import WARNING, made_programs, other_programs, stop_other_programs
from execplan.engine.schedule import runs_beside
from execplan.execution.model import PROGRAM_TYPES

if TYPE_CHECKING:
    from types import TracebackType

    from execplan.engine.beside import Beside
    from execplan.engine.book import JournalWriter
    from execplan.engine.entries import Change, Performed
    from execplan.engine.hands import StepExecutor
    from execplan.engine.permit import Permit
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step


class Returned(NamedTuple):
    """What has come of an attempt."""

    step: Step
    attempt: int
    begun: bool
    """Whether its intent was written."""
    performed: Performed | None
    """None where something else than the step has failed, or where it was not begun any more."""
    error: BaseException | None = None


class Attempts:
    """Those of one leg of a run, from its beginning or a resume to where it stops."""

    def __init__(self, bench: RunContext, book: JournalWriter, hands: StepExecutor, permit: Permit, jobs: int) -> None:
        self.bench = bench
        self.deadline = bench.deadline
        """By time.monotonic(); what somebody takes to answer a question is added."""
        self.running: dict[str, Step] = {}
        self.warnings: list[str] = []
        self._book, self._hands, self._permit = book, hands, permit
        self._inbox: SimpleQueue[Returned | None] = SimpleQueue()
        self._pool = ThreadPoolExecutor(jobs, "step")
        self._preparing = Lock()
        self._jobs = jobs
        self._group: Beside | None = None
        self._together: set[str] = set()
        """The steps that have run since nothing last did; one that ran alone knows what it has changed."""

    def __enter__(self) -> Attempts:
        self._book.is_at_work = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not self.bench.stop.is_set():
            self.bench.stop.set("trouble")  # nobody waits for what runs any more
        self._pool.shutdown()

    def wake(self) -> None:
        """Let who waits look around; may be called from the handler of a signal."""
        self._inbox.put(None)

    def begin(self, step: Step) -> None:
        """Begin an attempt of a step; raises ExecplanError where it may not be, or where the tree can't be looked at."""
        by = self._permit.begin(step, self._book.course).approved_by
        alone = not self.running
        if not self.running:
            self._together.clear()
            self._group = self._hands.beside(self.bench) if self._jobs > 1 and runs_beside(step) else None
        self._together.add(step.id)
        self.running[step.id] = step
        attempt = len(self._book.course.attempts.get(step.id, ())) + 1
        self._pool.submit(self._attempt, step, attempt, by, alone)

    def wait(self, seconds: float) -> Returned | None:
        """What comes back next; None when nothing does in time, or somebody wakes."""
        try:
            returned = self._inbox.get(timeout=seconds)
        except Empty:
            return None
        if returned is not None:
            del self.running[returned.step.id]
        return returned

    def note(self, step: Step, attempt: int, performed: Performed) -> None:
        """Write down how an attempt has ended, tick what is done with it, or take back what it did; raises ExecplanError."""
        performed = self._own(performed)
        self.mend()
        made = made_programs(self.bench, self._book.course)
        self._book.write(RESULT, step=step.id, attempt=attempt, **performed_json(performed), **made)
        if performed.ok:
            self.tick(step)
        elif step.rollback.enabled and not is_unknown(step, performed):
            self.take_back(step, attempt, performed.changes, performed.folders)

    def mend(self) -> None:
        """Put back what a step has removed or altered of the run; raises ExecplanError."""
        self.warnings += self._hands.mend(self.bench, self._book)

    def tick(self, step: Step) -> None:
        """Tick the task that is done with a step, if one is; no step fails for that."""
        transcript, marked = self._hands.tick(self.bench, self._book.course, step)
        if marked.warning:
            self.warnings.append(marked.warning)
        if marked.task:
            self._book.write(TICKED, step=step.id, task=marked.task, transcript=transcript)

    def take_back(self, step: Step, attempt: int, changes: tuple[Change, ...], folders: tuple[str, ...]) -> None:
        """Let the files be as they were before an attempt; raises ExecplanError."""
        self._hands.take_back(self.bench, changes, folders)
        told = [change_json(each) for each in changes]
        made = made_programs(self.bench, self._book.course)
        self._book.write(RETAKEN, step=step.id, attempt=attempt, changes=told, **made)

    def _attempt(self, step: Step, attempt: int, by: str, alone: bool) -> None:
        """In a thread of its own: from the check of what it finds to what came of it."""
        begun, performed, error = False, None, None
        try:
            with self._preparing:
                if not self.bench.stop.is_set():
                    if alone:  # what runs beside it may be building one at this moment
                        self._check_programs(step)
                    prepared = self._hands.prepare(self.bench, step, dict(self._book.course.expected))
                    before = {path: state_json(state) for path, state in prepared.before.items()}
                    snapshot = prepared.snapshot
                    self._book.write(INTENT, step=step.id, attempt=attempt, by=by, before=before, snapshot=snapshot)
                    begun = True
            if begun:
                bench = self.bench._replace(deadline=self.deadline)
                performed = self._hands.perform(bench, step, attempt, prepared)
        except BaseException as caught:  # noqa: BLE001 - the loop raises it, when all that runs has ended
            error = caught
        self._inbox.put(Returned(step, attempt, begun, performed, error))

    def _check_programs(self, step: Step) -> None:
        """Warn where a step would run another program than was approved, or refuse it; raises ExecplanError."""
        course = self._book.course
        others = other_programs(self.bench.home, course, [step]) if course.programs else []
        if others and self.bench.policy.programs != "refuse":
            self.warnings += [each for each in map(WARNING.format, others) if each not in self.warnings]
            return
        way = "execplan approve; execplan resume"
        stop_other_programs(others, f"{step.id} was not begun, it would run another program than was approved", way)

    def _own(self, performed: Performed) -> Performed:
        """An attempt with its own changes: of those that steps made beside each other, and nobody declares, the last one's."""
        if len(self._together) < 2:
            return performed
        changes = tuple([each for each in performed.changes if each.declared])
        if self.running or self._group is None:
            return performed._replace(changes=changes)
        more, folders = self._group.undeclared()
        return performed._replace(changes=(*changes, *more), folders=(*performed.folders, *folders))


def is_unknown(step: Step, performed: Performed) -> bool:
    """Whether nobody can say if a command that was interrupted, and may run only once, had its effect."""
    return performed.cause == "interrupted" and may_not_repeat(step)


def may_not_repeat(step: Step) -> bool:
    """Whether a step is a command that may run only once; what a step does to files can be seen."""
    return step.type in PROGRAM_TYPES and step.effect == "once"
