"""What is on disk before an agent is told that it may: the attempt of a step, and the call, under the lock of runs."""

from __future__ import annotations

import os

from execplan import clock
from execplan.agents.guard.basis import of_run
from execplan.agents.guard.decide import Judged, judge
from execplan.engine.agent import mark
from execplan.engine.agent.asked import question_of
from execplan.engine.alone import NAME
from execplan.engine.entries import CALLED, INTENT, PAUSED, state_json
from execplan.engine.journal import Journal, checked, parse, read_bytes
from execplan.errors import CHANGED, ExecplanError
from execplan.errors import PAUSED as WAITS
from execplan.execution import states
from execplan.execution.documents.touched import written
from execplan.execution.permission import ASK, DENY, GRACE
from execplan.execution.world import plain
from execplan.repo import state
from execplan.repo.execution import key as keys
from execplan.text.lock import set_timeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.agents.guard.basis import Basis
    from execplan.agents.guard.call import Call
    from execplan.engine.agent.warrant import Warrant
    from execplan.engine.journal import Entry
    from execplan.repo.home import Home
    from execplan.text.lock import Lock

WAIT: Final = 2.0
"""Seconds that a call waits for another, or for whoever else is at work on a run here."""
_LONGEST: Final = 4096


def lock(home: Home, call: Call) -> Lock:
    """The lock of runs; waited for, for other calls have it for an instant."""
    set_timeout(WAIT)
    return state.lock(home, NAME, f"guard of {call.session or 'an agent'}")


def entries_of(warrant: Warrant) -> list[Entry]:
    """The journal of a run; raises ExecplanError for one that is not as it was left."""
    data = read_bytes(warrant.place.journal)
    key = keys.read(warrant.home)
    if key is not None:  # the warrant is sealed with it
        mark.check(warrant.place, data, key)
    return checked(parse(data[: data.rfind(b"\n") + 1], warrant.place.journal), warrant.place.journal)


def is_over(basis: Basis) -> bool:
    """Whether the run has ended, or waits for its new revision to be approved: then its warrant is worth nothing."""
    course = basis.course
    return course is None or course.status != states.IN_PROGRESS


def stop_waiting(basis: Basis, warrant: Warrant) -> None:
    """Refuse all that a plan could allow while its run waits for a person; raises ExecplanError."""
    course = basis.course
    assert course is not None  # it is of a run
    number = f"{warrant.place.number} -p {warrant.plan}"
    if course.rolling is not None:
        raise _waits(f"the run {warrant.run} is being rolled back", f"a person finishes it: execplan rollback {number}")
    if course.question is not None:
        hint = f"a person answers: execplan resume {number} --answer go"
        raise _waits(f"the run {warrant.run} waits: {course.question.words}", hint)


def _waits(what: str, hint: str) -> ExecplanError:
    return ExecplanError("paused", what, exit=WAITS, hint=hint)


def moment(entries: Sequence[Entry]) -> float:
    """The time in seconds since 1970, which is not before what the journal says last; raises ExecplanError."""
    now, last = clock.seconds(), max([clock.from_utc(each.at) for each in entries[-1:]], default=0)
    if now < last - GRACE:
        what = f"the clock was set back: the journal was written at {entries[-1].at}"
        raise ExecplanError("approval-expired", what, exit=CHANGED, hint="set the clock right")
    return max(now, last)


def kept(call: Call, warrant: Warrant, *, asks: bool) -> Judged:
    """Judge a call of a step once more, and write down that it may be made; the lock of runs is held. Raises ExecplanError."""
    before = entries_of(warrant)
    with Journal(warrant.place.journal) as journal:
        basis = of_run(warrant, checked(journal.entries, warrant.place.journal))
        if is_over(basis) or len(before) != len(journal.entries):
            return Judged(DENY, f"the run {warrant.run} has come to its end meanwhile")
        stop_waiting(basis, warrant)
        found = judge(call, basis, moment(journal.entries))
        if not found.is_step:
            return found
        if found.kind == ASK and not asks:
            found = _paused(basis, warrant, journal, found)
        else:
            _write(call, basis, warrant, journal, found)
    _mark(warrant)
    return found


def _write(call: Call, basis: Basis, warrant: Warrant, journal: Journal, found: Judged) -> None:
    """The attempt, if none is under way, and the call."""
    assert basis.course is not None  # it is of a run
    course = basis.course
    tried = len(course.attempts.get(found.step, ()))
    if course.status_of[found.step] != states.RUNNING:
        tried += 1
        step = next(each.step for each in warrant.steps if each.step["id"] == found.step)
        paths = [each for each in map(plain, written(step)) if each is not None and each in course.expected]
        states_of = {path: state_json(course.expected[path]) for path in paths}
        journal.write(INTENT, step=found.step, attempt=tried, by=found.by, before=states_of, snapshot=False)
    told = next(each.told for each in warrant.steps if each.step["id"] == found.step)
    journal.write(
        CALLED,
        step=found.step,
        attempt=tried,
        tool=shown(call.tool, 100),
        what=told,
        paths=list(found.paths),
        session=shown(call.session, 200) or None,
        asked=found.kind == ASK,
    )


def _paused(basis: Basis, warrant: Warrant, journal: Journal, found: Judged) -> Judged:
    """Let the run wait for a person, where the agent's program can't ask one."""
    assert basis.course is not None  # it is of a run
    question = question_of(basis.plain[found.step], basis.course, basis.interval)
    assert question is not None  # or nobody would be asked
    journal.write(PAUSED, why=question.why, step=question.step or None, question=question.words)
    how = f"a person answers: execplan resume {warrant.place.number} -p {warrant.plan} --answer go"
    return Judged(DENY, f"{question.words}; {how}", found.step)


def _mark(warrant: Warrant) -> None:
    key = keys.read(warrant.home)
    if key is not None:
        mark.write(warrant.place, read_bytes(warrant.place.journal), key)


def shown(text: str, most: int) -> str:
    """Text as one line of characters that can be seen, and no longer than so many."""
    line = "".join([char if char.isprintable() else repr(char)[1:-1] for char in " ".join(text.split())])
    return line if len(line) <= most else f"{line[: most - 1]}…"


def has_journal(warrant: Warrant) -> bool:
    """Whether the run of a warrant has begun."""
    return os.path.lexists(warrant.place.journal)
