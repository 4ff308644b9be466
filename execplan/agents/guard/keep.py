"""What is on disk before an agent is told that it may: the attempt of a step, and the call, under the lock of runs."""

from __future__ import annotations

import os

from execplan import clock
from execplan.agents.guard.basis import of_run
from execplan.agents.guard.decide import Judged, judge
from execplan.engine import entries as kinds
from execplan.engine.agent import mark
from execplan.engine.agent.asked import step_question
from execplan.engine.alone import LOCK_NAME
from execplan.engine.copies import open_journal, ensure_not_altered
from execplan.engine.entries import CALLED, DENIED, INTENT, state_json
from execplan.engine.journal import check_entries, parse_entries, read_bytes
from execplan.engine.questions import ALLOWED_ANSWERS
from execplan.errors import CHANGED, PAUSED, ExecplanError
from execplan.execution import states
from execplan.execution.documents.touched import written_paths
from execplan.execution.permission import ASK, DENY, CLOCK_SKEW_SECONDS, validity_problem
from execplan.execution.world import normalize_path
from execplan.repo import state
from execplan.repo.execution import key as keys
from execplan.text.lock import is_held, set_timeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.agents.guard.basis import Basis
    from execplan.agents.guard.call import Call
    from execplan.engine.agent.warrant import GuardGrant
    from execplan.engine.journal import Entry, Journal
    from execplan.repo.home import Home
    from execplan.text.lock import Lock

WAIT: Final = 12.0
"""Seconds that a call waits for others, or for whoever else is at work on a run here: less than the guard has for all of it."""
_PLACES: Final = 16
_ALTERED: Final = "journal-altered"
MOST: Final = 100
"""Calls that were denied of which a run is told."""


def lock(home: Home, call: Call) -> Lock:
    """The lock of runs; waited for, for other calls have it for an instant."""
    set_timeout(WAIT)
    return state.lock(home, LOCK_NAME, f"guard of {call.session or 'an agent'}")


def line(home: Home) -> Lock:
    """A place among the calls that look at all of a plan: two for each processor, and the others wait.

    What the first of them finds out, as that a run has begun, spares the others most of it.
    """
    set_timeout(WAIT)
    places = [f"guard-{number}" for number in range(min(2 * (os.cpu_count() or 1), _PLACES))]
    free = [each for each in places if not is_held(state.lock_path(home, each))]
    return state.lock(home, (free or places)[os.getpid() % len(free or places)], "guard")


def entries_of(warrant: GuardGrant, *, locked: bool = False) -> list[Entry]:
    """The journal of a run; raises ExecplanError for one that is not as it was left.

    It is read without a lock. Where it is not as it should be it may have been read while another call wrote it, and so it is
    read once more in a turn of its own; `locked`: the caller has that.
    """
    try:
        return _entries(warrant)
    except ExecplanError as error:
        if locked or error.code != _ALTERED:
            raise
    set_timeout(WAIT)
    with state.lock(warrant.home, LOCK_NAME, "guard"):
        return _entries(warrant)


def _entries(warrant: GuardGrant) -> list[Entry]:
    data = read_bytes(warrant.run_paths.journal)
    check_mark(warrant, data)
    return check_entries(parse_entries(data[: data.rfind(b"\n") + 1], warrant.run_paths.journal), warrant.run_paths.journal)


def check_mark(warrant: GuardGrant, data: bytes) -> None:
    """Refuse a journal that is not as it was left, also among the artifacts; raises ExecplanError."""
    ensure_not_altered(warrant.run_paths)
    key = keys.read(warrant.home)
    if key is not None:  # the warrant is sealed with it
        mark.check(warrant.run_paths, data, key)


def is_over(basis: Basis) -> bool:
    """Whether the run has ended, or waits for its new revision to be approved: then its warrant is worth nothing."""
    course = basis.course
    return course is None or course.status != states.IN_PROGRESS


def stop_waiting(basis: Basis, warrant: GuardGrant) -> None:
    """Refuse all that a plan could allow while its run waits for a person; raises ExecplanError."""
    course = basis.course
    assert course is not None  # it is of a run
    number = f"{warrant.run_paths.number} -p {warrant.plan}"
    if course.open_rollback is not None:
        raise _waits(f"the run {warrant.run} is being rolled back", f"a person finishes it: execplan rollback {number}")
    if course.question is not None:
        answers = "|".join(ALLOWED_ANSWERS[course.question.why])
        hint = f"a person answers: execplan resume {number} --answer {answers}"
        raise _waits(f"the run {warrant.run} waits: {course.question.words}", hint)


def _waits(what: str, hint: str) -> ExecplanError:
    return ExecplanError("paused", what, exit=PAUSED, hint=hint)


def moment(entries: Sequence[Entry]) -> float:
    """The time in seconds since 1970, which is not before what the journal says last; raises ExecplanError."""
    now, last = clock.seconds(), max([clock.from_utc(each.at) for each in entries[-1:]], default=0)
    if now < last - CLOCK_SKEW_SECONDS:
        what = f"the clock was set back: the journal was written at {entries[-1].at}"
        raise ExecplanError("approval-expired", what, exit=CHANGED, hint="set the clock right")
    return max(now, last)


def by_warrant(call: Call, warrant: GuardGrant, entries: Sequence[Entry], basis: Basis, *, asks: bool) -> Judged:
    """What becomes of a call by a warrant and its run: that of a step is on disk by then. Raises ExecplanError."""
    found = judge(call, basis, moment(entries))
    if not found.is_step:
        return found
    with lock(warrant.home, call):
        return kept(call, warrant, entries, basis, found, asks=asks)


def kept(call: Call, warrant: GuardGrant, entries: Sequence[Entry], basis: Basis, found: Judged, *, asks: bool) -> Judged:
    """Write down that a call of a step may be made, judged once more where the journal has grown; the lock of runs is held.

    Raises ExecplanError.
    """
    check_mark(warrant, read_bytes(warrant.run_paths.journal))
    with open_journal(warrant.run_paths) as journal:
        if [each.line for each in entries] != [each.line for each in journal.entries]:
            if any([each.kind not in (INTENT, CALLED, DENIED) for each in journal.entries[len(entries) :]]):
                return Judged(DENY, f"the run {warrant.run} has gone on meanwhile: make the call again")
            basis = of_run(warrant, check_entries(journal.entries, warrant.run_paths.journal))
            found = judge(call, basis, moment(journal.entries))
        stop_waiting(basis, warrant)
        if not found.is_step:
            return found
        if basis.terms is not None and (why := validity_problem(basis.terms, moment(journal.entries))):
            return Judged(DENY, why, found.step)  # it was waited for the lock
        if found.kind == ASK and not asks:
            found = _paused(basis, warrant, journal, found)
        else:
            _write(call, basis, warrant, journal, found)
    _mark(warrant)
    return found


def _write(call: Call, basis: Basis, warrant: GuardGrant, journal: Journal, found: Judged) -> None:
    """The attempt, if none is under way, and the call."""
    assert basis.course is not None  # it is of a run
    course = basis.course
    tried = len(course.attempts.get(found.step, ()))
    if course.status_of[found.step] != states.RUNNING:
        tried += 1
        step = next(each.step for each in warrant.steps if each.step["id"] == found.step)
        paths = [each for each in map(normalize_path, written_paths(step)) if each is not None and each in course.expected_states]
        states_of = {path: state_json(course.expected_states[path]) for path in paths}
        journal.write(INTENT, step=found.step, attempt=tried, by=found.by, before=states_of, snapshot=False)
    told = next(each.told for each in warrant.steps if each.step["id"] == found.step)
    journal.write(
        CALLED,
        step=found.step,
        attempt=tried,
        tool=shown(call.tool, 100),
        what=told,
        paths=list(found.paths),
        session=call.session or None,
        asked=found.kind == ASK,
        further=found.further,
    )


def _paused(basis: Basis, warrant: GuardGrant, journal: Journal, found: Judged) -> Judged:
    """Let the run wait for a person, where the agent's program can't ask one."""
    assert basis.course is not None  # it is of a run
    question = step_question(basis.plain[found.step], basis.course, basis.interval)
    assert question is not None  # or nobody would be asked
    journal.write(kinds.PAUSED, why=question.why, step=question.step or None, question=question.words)
    how = f"a person answers: execplan resume {warrant.run_paths.number} -p {warrant.plan} --answer go"
    return Judged(DENY, f"{question.words}; {how}", found.step)


def denied(call: Call, warrant: GuardGrant, entries: Sequence[Entry], basis: Basis, found: Judged) -> None:
    """Tell the run of a call that was denied, the answer being given, if nobody else is at work and it has not heard of many.

    It raises nothing: a denial stays one whatever becomes of this.
    """
    if basis.course is None or basis.course.question is not None or basis.course.denied_calls >= MOST:
        return
    set_timeout(0.0)
    try:
        with state.lock(warrant.home, LOCK_NAME, "guard"), open_journal(warrant.run_paths) as journal:
            if [each.line for each in entries] == [each.line for each in journal.entries]:
                step, tool = found.step or None, shown(call.tool, 100)
                journal.write(DENIED, tool=tool, what=_what(call), step=step, session=call.session or None)
                _mark(warrant)
    except Exception:  # noqa: BLE001 - it is told or it is not
        return


def _what(call: Call) -> str:
    """The program of a command, or the paths; secrets would stand elsewhere, and are taken out here too."""
    from execplan.text.secrets import masked

    words = [each for each in call.command.split() if "=" not in each][:1]
    return shown(masked(" ".join(words or [*[edit.path for edit in call.edits], *call.reads])), 300)


def _mark(warrant: GuardGrant) -> None:
    key = keys.read(warrant.home)
    if key is not None:
        mark.write(warrant.run_paths, read_bytes(warrant.run_paths.journal), key)


def shown(text: str, most: int) -> str:
    """Text as one line of characters that can be seen, and no longer than so many."""
    line = "".join([char if char.isprintable() else repr(char)[1:-1] for char in " ".join(text.split())])
    return line if len(line) <= most else f"{line[: most - 1]}…"
