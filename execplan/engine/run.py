"""A run: what was approved is done, step by step, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import begin, replay
from execplan.engine import place as places
from execplan.engine.alone import alone
from execplan.engine.asking import Asking
from execplan.engine.attempts import Attempts
from execplan.engine.book import JournalWriter
from execplan.engine.copies import journal_of
from execplan.engine.course import RunState
from execplan.engine.finish import finish, leg
from execplan.engine.hands import StepExecutor
from execplan.engine.loop import Loop
from execplan.engine.outlook import outlook
from execplan.engine.resume import follow
from execplan.engine.schedule import Schedule
from execplan.engine.signals import Signals
from execplan.errors import BUSY, ExecplanError
from execplan.execution.programs import describe_changed_programs
from execplan.repo.amend import stop_archived
from execplan.repo.execution import standing
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from execplan.engine.place import RunPaths
    from execplan.engine.watch import RunOptions, FinishedRun, RunObserver
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

__all__ = ["outlook", "run"]


def run(
    home: Home, ref: Ref, chosen: RunOptions, watch: RunObserver, options: Options, *, hands: StepExecutor | None = None
) -> FinishedRun:
    """Run what a plan compiles to, if it was approved; raises ExecplanError where nothing is begun, or a disk fails."""
    existing(home)
    stop_archived(home, ref)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    place = places.following(home, ref)
    with alone(home, f"run {place.id} of {ref.id}"):
        _stop_overtaken(home, ref, place)
        return _run(home, ref, place, chosen, watch, options, hands or StepExecutor())


def _stop_overtaken(home: Home, ref: Ref, place: RunPaths) -> None:
    """Refuse where another run of the plan was begun between the look at its number and the lock."""
    if places.following(home, ref).number != place.number:
        what = f"another run of {ref.id} was begun at this moment"
        raise ExecplanError("run-busy", what, exit=BUSY, hint=f"see how it stands: execplan runs {ref.typed}")
    begin.stop_underway(home, ref)


def _run(home: Home, ref: Ref, place: RunPaths, chosen: RunOptions, watch: RunObserver, options: Options, hands: StepExecutor) -> FinishedRun:
    """Begin a run, and see it to its end; the lock of runs is held."""
    from execplan.engine.ledger.ledger import AuditLog

    found = standing.require(home, ref)
    assert found.now is not None  # what may run compiles to something
    assert found.approval is not None
    document = found.now.current.document
    begin.stop_agent(document, ref)
    ids = begin.chosen_steps(document, chosen)
    replayed = replay.find(home, ref, chosen.replays, found.now.binding) if chosen.replays else None
    chosen = chosen._replace(replays=replayed.place.id if replayed is not None else "")
    bench = begin.bench_for(home, ref, place, found.now, watch, chosen.seconds)
    schedule = Schedule(document, ids, lambda path: hands.there(bench, path))
    permit = begin.permit_of(found, schedule)
    begin.stop_unapproved(permit, found.approval, [step for step in document.steps if step.id in schedule.chosen])
    others = describe_changed_programs(found.approval.binding.programs or {}, found.now.binding.programs or {})
    warnings = begin.warn(bench, ids, others)
    ledger = AuditLog(home, ref)
    ledger.update_anchor()
    ledger.can_restore = True
    begin.take(home, ref, place, found)
    with journal_of(place) as journal:
        book = JournalWriter(place.id, journal, RunState(document), ledger, bench.redaction, watch)
        own = leg(home, ref, place, found.now.policy, book, options)
        warnings += schedule.unchosen_needs()
        watch.begin(place.id, [step for step in document.steps if step.id in schedule.chosen])
        begin.write_begun(book, bench, found, ids, chosen)
        ledger.update_anchor()
        jobs = 1 if document.constraints.require_sequential else chosen.jobs
        with (
            begin.resumable(place, ref),
            Attempts(bench, book, hands, permit, jobs) as attempts,
            Signals(bench.stop, attempts.wake) as signals,
        ):
            fate = Loop(attempts, book, schedule, Asking(book, signals, bench.stop), jobs).go()
            finished = finish(own, schedule, fate, bench.stop.signal, [*warnings, *attempts.warnings])
        finished = follow(own, finished, jobs, hands, attempts.deadline)
    if replayed is None:
        return finished
    return finished._replace(differences=replay.differences(replayed.course, book.course))
