"""A report of an agent: what became of a step, checked, on record, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import begin as begins
from execplan.engine.agent import begin, beyond, current, kept
from execplan.engine.agent.asked import question_of
from execplan.engine.agent.follow import up_next
from execplan.engine.agent.judge import COMPLETED, FAILED, Said, judge, lost
from execplan.engine.agent.moment import moment
from execplan.engine.agent.recovery import recovery
from execplan.engine.agent.reported import Reported, in_hand, recorded, step_of, stop_drifted
from execplan.engine.agent.would import ahead, would
from execplan.engine.alone import alone
from execplan.engine.course import Attempt
from execplan.engine.entries import INTENT, RESULT, performed_json
from execplan.engine.fate import PAUSED, Fate
from execplan.engine.signals import Signals
from execplan.engine.steps.named import declared
from execplan.errors import INTERRUPTED, TERMINATED, ExecplanError
from execplan.execution import states
from execplan.repo.amend import stop_archived
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from execplan.engine.agent.current import Current
    from execplan.engine.agent.moment import Moment
    from execplan.engine.place import Place
    from execplan.execution.model import Step
    from execplan.repo.amend import Options
    from execplan.repo.execution.standing import Standing
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

__all__ = ["COMPLETED", "FAILED", "Reported", "Said", "report"]


def report(home: Home, ref: Ref, step: str, said: Said, options: Options) -> Reported:
    """Record what became of a step, an id or a number; raises ExecplanError with nothing recorded."""
    existing(home)
    stop_archived(home, ref)
    if options.dry_run:
        return would(home, ref, step, said)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    with alone(home, f"report of {step} of {ref.id}", waits=True):
        known = begin.known(home, ref, step)
        before = recorded(home, known, step, said) if known is not None else None
        if known is not None and before is not None:
            return _catch_up(home, ref, known, before, options)
        place, found = _place(home, ref, known, step, said)
        again = f"then report it again: execplan report {step} -p {ref.typed}"
        with begins.hinting(again), moment(home, ref, place, options) as now:
            return _report(now, step_of(now.course.document, step), said, found)


def _catch_up(home: Home, ref: Ref, known: Current, found: Reported, options: Options) -> Reported:
    """What was recorded before; whoever recorded it may have been killed before he wrote what follows."""
    if not known.goes_on:
        return found
    with moment(home, ref, known.place, options) as now:
        finished = now.settle()
        following = tuple(up_next(now.course, now.schedule)) if now.course.status == states.IN_PROGRESS else ()
    return found._replace(status=finished.status, finished=finished, up_next=following, warnings=finished.warnings)


def _report(now: Moment, step: Step, said: Said, found: Standing | None) -> Reported:
    """The lock is held, the run has begun."""
    course, own = now.course, now.own
    attempt = in_hand(course, step)
    if said.status == COMPLETED:
        stop_drifted(now.bench, course, step)
        if step.validation.test_after is not None:
            from execplan.engine.commands.sandbox import find

            find(own.home, own.policy)  # refuses where the policy wants one that is not here
    if attempt is None:
        assert found is not None  # what has no attempt was looked at when the run was taken up
        attempt = _intent(now, step, found)
    unkept = lost(now.bench, step, attempt.before)
    with Signals(now.bench.stop, lambda: None):
        performed = judge(now.bench, step, attempt, course, said)
    if performed.cause == "interrupted":
        raise _interrupted(now.bench.stop.signal, step)
    now.warnings += [
        f"{path}: what was there before is not kept: it can't be compared, or taken back" for path in unkept
    ]
    if said.status == COMPLETED and step.expect is not None and said.evidence is None:
        now.warnings.append(f"what {step.id} printed was compared with nothing: show it with --evidence")
    ours = [own.home.shown(own.ref.path), own.home.shown(own.home.artifacts_of(own.ref.path, archived=False))]
    others = [path for name, _ in course.open_attempt() for path in declared(now.schedule.step[name])]
    more = beyond.changed(own.home, own.place, [*ours, *others])
    now.warnings += [f"{path} has changed, and no step in hand says that it does" for path in more]
    now.book.write(RESULT, step=step.id, attempt=attempt.number, **performed_json(performed))
    tries = course.tries(step.id)
    finished = now.settle()
    told = course.ticked.get(step.id, ("", ""))[0]
    return Reported(
        own.place.id,
        step,
        performed,
        performed.ok,
        again=False,
        reason=course.attempts[step.id][-1].performed.reason,  # type: ignore[union-attr]  # it was just written
        changes=performed.changes,
        recovery=None if performed.ok else recovery(own.ref, own.place, step, performed, tries),
        up_next=tuple(up_next(course, now.schedule)) if course.status == states.IN_PROGRESS else (),
        status=course.status,
        finished=finished,
        task=told,
        warnings=finished.warnings,
    )


def _place(home: Home, ref: Ref, known: Current | None, step: str, said: Said) -> tuple[Place, Standing | None]:
    """The run that a step belongs to, begun where none is; nobody is asked again for a step that is in hand."""
    if known is not None and known.goes_on:
        own = step_of(known.course.document, step)
        if known.course.rolling is None and in_hand(known.course, own) is not None:
            return known.place, None
    try:
        if known is None or not known.goes_on:
            ahead(home, ref, None, step)  # a report that is refused begins no run
        return begin.taken(home, ref, said.session, step)
    except ExecplanError as error:
        if error.code == "approval-used" and known is not None:
            run = f"{known.place.number} -p {ref.typed}"
            error.hint = (
                f"the run {known.place.id} has ended ({known.course.status}); a person takes it up, or approves "
            )
            error.hint += f"another: execplan resume {run}; execplan approve {ref.typed}"
        raise


def _intent(now: Moment, step: Step, found: Standing) -> Attempt:
    """Begin an attempt that was not begun by a call; raises ExecplanError where it is not permitted."""
    course, own = now.course, now.own
    permit = begins.permit_of(found, now.schedule)
    given, question = permit.begin(step, course), question_of(step, course, permit.interval)
    if question is not None:
        now.end(Fate(PAUSED, step.id, question=question))
        raise current.waits(own.ref, own.place, question)
    before = kept.before(course.expected, declared(step))
    number = len(course.attempts.get(step.id, ())) + 1
    now.book.write(INTENT, step=step.id, attempt=number, by=given.approved_by, before=before, snapshot=False)
    return course.attempts[step.id][-1]


def _interrupted(signal: str, step: Step) -> ExecplanError:
    what = f"the test behind {step.id} was interrupted: nothing is recorded of how it ended"
    if signal == "SIGINT":
        return ExecplanError("interrupted", what, exit=INTERRUPTED, hint="report it again")
    return ExecplanError("terminated", what, exit=TERMINATED, hint="report it again")
