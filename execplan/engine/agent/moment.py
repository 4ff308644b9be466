"""A moment in which something is written of an agent's run: what is needed for it, what follows, and its end."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from execplan.engine import fate as fates
from execplan.engine.agent import begin, beyond, mark
from execplan.engine.agent.follow import follow
from execplan.engine.agent.left import left
from execplan.engine.book import Book
from execplan.engine.copies import journal_of
from execplan.engine.course import Course
from execplan.engine.entries import RESULT, TICKED, performed_json
from execplan.engine.finish import Leg, filed, finish, leg
from execplan.engine.hands import Hands
from execplan.engine.journal import checked, read_bytes
from execplan.engine.opened import redaction
from execplan.engine.schedule import Schedule
from execplan.engine.watch import Finished, Watch
from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.execution.world import ABSENT
from execplan.repo.execution import key
from execplan.repo.execution.policy import effective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.place import Place
    from execplan.engine.steps.bench import Bench
    from execplan.execution.model import Step
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Moment:
    """Of one run; the lock of runs is held, and its journal is open."""

    def __init__(self, own: Leg, bench: Bench) -> None:
        self.own, self.bench = own, bench
        self.book, self.course = own.book, own.book.course
        self.schedule = Schedule(self.course.document, None, self.there)
        self.warnings: list[str] = []

    def there(self, path: str) -> bool:
        """Whether something is at a path."""
        return self.bench.ground.state(path).kind != ABSENT

    def tick(self, step: Step) -> None:
        """Tick the task that is done with a step, if one is; no step fails for that."""
        transcript, marked = Hands().tick(self.bench, self.course, step)
        self.warnings += [marked.warning] if marked.warning else []
        if marked.task:
            self.book.write(TICKED, step=step.id, task=marked.task, transcript=transcript)

    def settle(self) -> Finished:
        """Write what follows from what was written; how the run stands then. Raises ExecplanError."""
        for name in self.course.named(states.COMPLETED):
            self.tick(self.schedule.step[name])  # whoever wrote that it is done may have been killed before this
        fate = follow(self.book, self.schedule, self.tick)
        return self.go_on() if fate is None else self.end(fate)

    def go_on(self) -> Finished:
        """File a run that goes on, and seal what its agent may do now; raises ExecplanError."""
        own, course = self.own, self.course
        filed(own, None, self.warnings)
        beyond.note(own.home, own.place)
        try:
            begin.seal(own.home, own.ref, own.place, begin.required(own.home, own.ref, own.place.id, ""))
        except ExecplanError as error:
            self.warnings.append(f"nothing more is allowed as things stand: {error.message}")
        return Finished(own.place.id, course.status, course.question, warnings=tuple(self.warnings))

    def end(self, fate: fates.Fate) -> Finished:
        """Write the end, or the question; what was in hand then has ended too. Raises ExecplanError."""
        if fate.question is None:
            for name, attempt in self.course.open_attempt():
                performed = left(self.bench, self.schedule.step[name], attempt, self.course, keep=True)
                self.book.write(RESULT, step=name, attempt=attempt.number, **performed_json(performed))
        return finish(self.own, self.schedule, fate, "", self.warnings)


@contextmanager
def moment(home: Home, ref: Ref, place: Place, options: Options) -> Iterator[Moment]:
    """What is written of a run at this moment; the caller holds the lock of runs. Raises ExecplanError."""
    from execplan.engine import revisions
    from execplan.engine.ledger.ledger import Ledger

    _stop_taken_back(home, place)
    with journal_of(place) as journal:
        checked(journal.entries, place.journal)
        course = Course(revisions.document_of(place, journal.entries), journal.entries)
        ledger = Ledger(home, ref, mends=True)
        ledger.follow(place.id, journal.entries)
        policy = effective(home)
        book = Book(place.id, journal, course, ledger, redaction(), Watch())
        warnings = book.mend(home, ref, place)
        own = leg(home, ref, place, policy, book, options)
        found = Moment(own, bench_of(home, ref, place, course))
        found.warnings += warnings
        yield found


def _stop_taken_back(home: Home, place: Place) -> None:
    """Refuse a journal that lacks what it had when a call was last allowed; raises ExecplanError."""
    sealing = key.read(home)
    if sealing is not None:
        mark.check(place, read_bytes(place.journal), sealing)


def bench_of(home: Home, ref: Ref, place: Place, course: Course) -> Bench:
    """What is needed to look at what an agent has done, and to run the test behind a step; raises ExecplanError."""
    from execplan.engine.cut import bench_of as bare

    bench = bare(home, ref, place, course, Watch())
    limits = [bench.policy.seconds, course.document.constraints.max_duration_s]
    return bench._replace(deadline=monotonic() + min([each for each in limits if each is not None]))
