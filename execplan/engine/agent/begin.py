"""An agent's run begins, or is taken up under a new approval; its steps are done by somebody else, and none of them here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import begin as begins
from execplan.engine import place as places
from execplan.engine.agent import beyond, current, kept, mark, warrant
from execplan.engine.agent.follow import follow
from execplan.engine.book import Book
from execplan.engine.copies import journal_of
from execplan.engine.course import Course
from execplan.engine.entries import RESUMED
from execplan.engine.files.ground import Ground
from execplan.engine.journal import read_bytes
from execplan.engine.opened import redaction
from execplan.engine.schedule import Schedule
from execplan.engine.underway import underway
from execplan.engine.watch import Watch
from execplan.errors import NO, ExecplanError
from execplan.execution import states
from execplan.execution.world import ABSENT
from execplan.repo.amend import stop_archived
from execplan.repo.execution import key, standing
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from collections.abc import Collection

    from execplan.engine.agent.current import Current
    from execplan.engine.place import Place
    from execplan.execution.approval import Approval
    from execplan.execution.model import ExecutionPlan
    from execplan.repo.execution.standing import Standing
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def begin(home: Home, ref: Ref, *, session: str) -> Place:
    """Begin a run by an agent, or take up the one that is under way, and issue its warrant; raises ExecplanError.

    The caller holds the lock of runs.
    """
    return taken(home, ref, session, "")[0]


def taken(home: Home, ref: Ref, session: str, did: str) -> tuple[Place, Standing]:
    """The same, and what lets it go on.

    `did`: the step, by id or number, that was done before anybody asked here; only what it writes may be another than it
    was when it was approved.
    """
    existing(home)
    stop_archived(home, ref)
    found = current.last(home, ref)
    if found is None or not found.goes_on:
        return _new(home, ref, session, did)
    current.stop_waiting(ref, found)
    return found.place, _take_up(home, ref, found, session, did)


def known(home: Home, ref: Ref, did: str) -> Current | None:
    """The run of an agent that a report of a step is about: the last one, unless it has ended and another may begin."""
    found = current.last(home, ref)
    if found is None or found.goes_on:
        return found
    try:
        required(home, ref, "", did)
    except ExecplanError:
        return found
    return None


def required(home: Home, ref: Ref, run: str, did: str) -> Standing:
    """How a plan stands that an agent may carry out; raises ExecplanError for one that may not be."""
    now = standing.look(home, ref, programs=False)
    best = standing.required(home, ref, now, run, _written(now.current.document, did))
    if not run and best.kept.approval is not None:
        _stop_rest(home, ref, best.kept.approval)
    return standing.Standing(standing.APPROVED, best.kept.approval, (), best.kept.path, now)


def _stop_rest(home: Home, ref: Ref, given: Approval) -> None:
    """Refuse to begin a run with what was approved of another that has failed, which is only its rest; raises ExecplanError."""
    failed = underway(home, ref)
    if failed is not None and failed.finished_steps and given.steps is not None and failed.finished_steps.isdisjoint(given.steps):
        run = f"{failed.run} -p {ref.typed}"
        what = f"what is approved of {ref.id} is what its run {failed.run} has left to do"
        hint = f"a person takes it up, or back and approves all: execplan resume {run}; execplan rollback {run}"
        raise ExecplanError("run-under-way", what, exit=NO, hint=hint)


def seal(home: Home, ref: Ref, place: Place, found: Standing) -> None:
    """Issue the warrant by which the guard judges the next calls; raises ExecplanError."""
    assert found.now is not None
    assert found.approval is not None
    warrant.issue(home, ref, place, found.now, found.approval)
    mark.write(place, read_bytes(place.journal), key.make(home))


def _new(home: Home, ref: Ref, session: str, did: str) -> tuple[Place, Standing]:
    from execplan.engine.ledger.ledger import Ledger

    begins.stop_underway(home, ref)
    place = places.following(home, ref)
    found = required(home, ref, "", did)
    assert found.now is not None  # what may run compiles to something
    assert found.approval is not None
    document = found.now.current.document
    ledger = Ledger(home, ref)
    ledger.anchor()
    begins.take(home, ref, place, found)
    at = kept.keep(home, document.steps, found.approval, (), _written(document, did))
    beyond.note(home, place)
    with journal_of(place) as journal:
        book = Book(place.id, journal, Course(document), ledger, redaction(), Watch())
        told = {"mode": "agent", "sandbox": "", "jobs": 1, "chosen": None, "replays": None, "states": at}
        begins.first(book, home, place, found, **told, **_who(session))
        ground = Ground(home)
        schedule = Schedule(document, None, lambda path: ground.state(path).kind != ABSENT)
        follow(book, schedule, lambda step: None)  # what is skipped from the beginning ticks nothing
        ledger.anchor()
    seal(home, ref, place, found)
    return place, found


def _take_up(home: Home, ref: Ref, own: Current, session: str, did: str) -> Standing:
    """Go on with a run, on record where what allows it is another approval or revision than before."""
    from execplan.engine.ledger.ledger import Ledger

    found = required(home, ref, own.place.id, did)
    assert found.approval is not None
    begins.stop_other(ref, own.place, own.course, found)
    begins.keep_state(home, ref, own.place)
    if found.approval.id != own.course.approval["approval_id"] or own.course.status == states.REPLANNING:
        with journal_of(own.place) as journal:
            ledger = Ledger(home, ref)
            ledger.follow(own.place.id, journal.entries)
            book = Book(own.place.id, journal, own.course, ledger, redaction(), Watch())
            resumed(book, home, own.place, found, session, did)
            ledger.anchor()
    seal(home, ref, own.place, found)
    return found


def resumed(
    book: Book,
    home: Home,
    place: Place,
    found: Standing,
    session: str,
    did: str = "",
    failed: Collection[str] | None = None,
) -> None:
    """Write that a run goes on; None for failed: what has failed stays so. Raises ExecplanError."""
    assert found.now is not None  # as above
    assert found.approval is not None
    course, document = book.course, found.now.current.document
    new = found.approval.id != course.approval["approval_id"]
    begins.use(home, place, found.approval)
    known = [path for path in course.expected if not new or path not in found.approval.binding.states]
    at = kept.keep(home, document.steps, found.approval, known, _written(document, did))
    course.document = document
    stay = course.named(states.FAILED) if failed is None else list(failed)
    told = {"document": found.now.binding.document, "revision": document.revision, "failed": stay}
    book.write(RESUMED, **{**begins.who(found), **_who(session)}, **told, states=at)


def _who(session: str) -> dict[str, str]:
    return {"session": session} if session else {}


def _written(document: ExecutionPlan, did: str) -> list[str]:
    """What a step writes, by its id or number; nothing for none."""
    from execplan.engine.steps.named import declared

    return [path for step in document.steps if did in (step.id, str(step.number)) for path in declared(step)]
