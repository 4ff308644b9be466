"""The end of a leg of a run: what is written, taken back, told and committed, and how it is reported."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from execplan.clock import now
from execplan.engine import fate as fates
from execplan.engine import record
from execplan.engine.entries import ENDED, INTERRUPTED, PAUSED
from execplan.engine.fate import StopReason
from execplan.engine.files.store import BackupStore
from execplan.engine.notice import notify
from execplan.engine.watch import FinishedRun
from execplan.errors import CHANGED, INPUT, ExecplanError
from execplan.execution import states
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.repo.amend import Options
from execplan.repo.execution import triggers

if TYPE_CHECKING:
    from execplan.engine.book import JournalWriter
    from execplan.engine.course import Question
    from execplan.engine.place import RunPaths
    from execplan.engine.schedule import Schedule
    from execplan.engine.watch import RolledBack
    from execplan.execution.policy import Policy
    from execplan.repo.execution.triggers import Looks
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class RunSession(NamedTuple):
    """A run from its beginning, or a resume, to where it stops."""

    home: Home
    ref: Ref
    place: RunPaths
    policy: Policy
    book: JournalWriter
    options: Options
    before: bytes
    """The plan, as it was when the leg began."""
    begun: float
    """When it did, by time.monotonic()."""
    triggers: Looks
    """What git runs by itself, as it was then; looked at only by who will commit."""


def leg(home: Home, ref: Ref, place: RunPaths, policy: Policy, book: JournalWriter, options: Options) -> RunSession:
    """A leg that begins now; raises ExecplanError."""
    looks = triggers.look(home) if options.commits(home) else {}
    return RunSession(home, ref, place, policy, book, options, shelf.open_bytes(home, ref.path), monotonic(), looks)


def finish(own: RunSession, schedule: Schedule | None, fate: StopReason, signal: str, warnings: list[str]) -> FinishedRun:
    """Write down how the leg has ended, and all that follows from it; raises ExecplanError."""
    book, course = own.book, own.book.course
    question, rolled_back = None, None
    warnings[:0] = book.warnings
    warnings += book.mend(own.home, own.ref, own.place)
    if fate.kind == fates.REPLAN:
        fate = _replanned(own, fate, warnings)
    if fate.kind == fates.COVERED:
        return FinishedRun(own.place.id, course.status, warnings=tuple(warnings), goes_on=True)
    if fate.kind == fates.SIGNAL:
        book.write(INTERRUPTED, signal=signal, seconds=_took(own))
    elif fate.question is not None:
        question = fate.question
        book.write(PAUSED, why=question.why, step=question.step or None, question=question.words, seconds=_took(own))
    else:
        rolled_back = _end(own, schedule, fate, warnings)
    commit = filed(own, question, warnings)
    told = fate.kind == fates.FAILED
    return FinishedRun(
        own.place.id,
        course.status,
        question,
        signal if fate.kind == fates.SIGNAL else "",
        fate.cause if told else "",
        fate.reason if told else "",
        rolled_back,
        warnings=tuple(warnings),
        commit=commit,
    )


def finish_failed(own: RunSession) -> FinishedRun | None:
    """Of a run that was killed behind its failure, all that follows from it; None where that was done. Raises ExecplanError."""
    course = own.book.course
    cause = course.ended.said["cause"] if course.status == states.FAILED and course.ended is not None else ""
    if cause not in own.policy.rollback_on or course.is_agents or record.is_filed(own.place, course.document, course):
        return None
    assert course.ended is not None  # as above
    warnings: list[str] = []
    reason, rolled_back = course.ended.said["reason"], _undone(own, cause, warnings)
    commit = filed(own, None, warnings)
    return FinishedRun(
        own.place.id, course.status, None, "", cause, reason, rolled_back, warnings=tuple(warnings), commit=commit
    )


def _replanned(own: RunSession, fate: StopReason, warnings: list[str]) -> StopReason:
    """Make a new revision after a failure; where none can be made the run has failed.

    The run goes on with one that an approval covers, unless the step had led to one before: trying it again has not helped.
    Else it waits.
    """
    from execplan.engine.replan import replan_run

    again = any([each.said.get("step") == fate.step for each in own.book.course.replans])
    try:
        made = replan_run(
            own.home,
            own.ref,
            own.place,
            reason=fate.reason,
            failed=[fate.step],
            information=None,
            watch=own.book.watch,
            options=Options(commit=False),
            book=own.book,
        )
    except ExecplanError as error:
        if error.exit not in (INPUT, CHANGED):
            raise
        warnings.append(f"it could not be planned anew: {error.message}")
        return fate._replace(kind=fates.FAILED)
    warnings += made.warnings
    if made.cover.given is not None and not again:
        return fate._replace(kind=fates.COVERED)
    return fate._replace(kind=fates.PAUSED, question=made.question)


def _took(own: RunSession) -> float:
    """Seconds that the run has taken, with the legs before this one; an agent's has no legs, and goes by the clock."""
    course = own.book.course
    if course.is_agents:
        began = datetime.strptime(course.begun["at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        return max(0.0, (now() - began).total_seconds())
    return round(monotonic() - own.begun + (own.book.course.seconds or 0), 3)


def _end(own: RunSession, schedule: Schedule | None, fate: StopReason, warnings: list[str]) -> RolledBack | None:
    """Write the end; a failure is rolled back where the policy says so."""
    book = own.book
    for move in schedule.blocked(book.course) if schedule is not None else ():
        book.write(move.kind, step=move.step, reason=move.words)
    good = fate.kind == fates.DONE and all([each in states.SUCCESS_STATES for each in book.course.status_of.values()])
    status = states.COMPLETED if good else states.FAILED
    book.write(ENDED, status=status, cause=fate.cause, reason=fate.reason, seconds=_took(own))
    return None if good else _undone(own, fate.cause, warnings)


def _undone(own: RunSession, cause: str, warnings: list[str]) -> RolledBack | None:
    """Roll a failed run back, where the policy says so; never an agent's, which may be in the midst of something."""
    if cause not in own.policy.rollback_on or own.book.course.is_agents:
        return None
    from execplan.engine.rollback import rollback

    try:
        return rollback(
            own.home,
            own.ref,
            own.place,
            step=None,
            automatic=cause,
            watch=own.book.watch,
            options=Options(commit=False),
            book=own.book,
        )
    except ExecplanError as error:
        more = f" ({'; '.join(error.candidates)})" if error.candidates else ""
        warnings.append(f"it could not be rolled back by itself: {error.message}{more}")
        return None


def filed(own: RunSession, question: Question | None, warnings: list[str]) -> str | None:
    """Save the record, move the anchor, tell whoever wants to be told, commit; the commit."""
    book, course = own.book, own.book.course
    made = record.record_of(own.place, course.document, course)
    record.save(own.place, made)
    book.ledger.update_anchor()
    ended = course.status in states.ENDED_RUN_STATES
    if ended:
        BackupStore(own.home).purge(own.policy.backup_days)
    if ended or question is not None:
        warnings += notify(own.policy, own.home, own.place, made, question, book.redaction)
    if not ended or not own.options.commits(own.home):
        return None
    if found := triggers.changed(own.home, own.triggers):
        told = f"{', '.join(found[:3])}{' and more' if found[3:] else ''}"
        what = f"not committed: the run has changed what git runs by itself: {told}"
        warnings.append(f"{what}; look at it, then: execplan commit {own.ref.typed}")
        return None
    from execplan.plan import reader
    from execplan.repo.commit import commit_paths

    real = os.path.realpath(own.ref.path)
    paths = [real, own.home.artifacts_of(own.ref.path, archived=own.ref.archived)]
    title = reader.read(shelf.open_bytes(own.home, own.ref.path)).title
    summary = f"run {own.place.id}: {course.status.replace('_', ' ')}"
    done = commit_paths(own.home, own.ref.id, paths, "run", summary, {real: own.before}, title)
    warnings += done.warnings
    return done.digest
