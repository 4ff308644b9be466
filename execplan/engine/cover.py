"""A revision of what a run does that needs no new approval: everything in it was approved, and nothing else has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.clock import now
from execplan.engine import approving, revisions
from execplan.engine import order as orders
from execplan.engine.entries import REVISED
from execplan.engine.recover import ALTERNATIVE
from execplan.errors import ENVIRONMENT, POLICY, ExecplanError
from execplan.execution import approval as seals
from execplan.execution import states
from execplan.execution.approval import REVISION
from execplan.execution.binding import bind, describe_difference
from execplan.execution.documents.document import load, to_bytes
from execplan.execution.evaluate import ActiveRun, evaluate
from execplan.execution.evaluation.scope import approval_scope
from execplan.execution.making.covered import RunProgress, find_uncovered_changes
from execplan.execution.model import ExecutionPlan
from execplan.execution.permission import NEVER, find_approver, validity_problem
from execplan.execution.programs import describe_changed_programs
from execplan.repo.amend import Options
from execplan.repo.execution import approvals, approve, key, register, standing, store, tree
from execplan.repo.execution.current import Current
from execplan.repo.execution.evaluated import Evaluated
from execplan.repo.execution.policy import effective
from execplan.repo.execution.world import Glance
from execplan.text import disk
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.course import RunState
    from execplan.engine.place import RunPaths
    from execplan.execution.approval import Approval
    from execplan.repo.execution.approvals import Kept
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


MOST: Final = 10
"""Revisions in a row that one approval covers: then a person looks at it again."""


class Cover(NamedTuple):
    """The approval that covers a revision, or why a person has to approve it."""

    by: Approval | None
    why: tuple[str, ...] = ()
    """Why none does, a line each."""
    shown: Evaluated | None = None
    """The revision as it was evaluated."""
    given: Approval | None = None
    """The approval of the revision that was derived and recorded."""


def find(home: Home, ref: Ref, place: RunPaths, course: RunState, made: ExecutionPlan) -> Cover:
    """The approval of a run that covers its next revision; nothing is written. Raises ExecplanError where a disk fails."""
    try:
        _stop_asked(course)
        by = _serving(home, ref, place)
        document = _document(place, by)
        why = find_uncovered_changes(document, made, _stands(document, course))
        if why:
            return Cover(None, tuple(why))
        shown = _evaluated(home, ref, place, course, made)
        why = [*_drifted(home, course, by, shown), *_unapproved(by, shown)]
        if why:
            return Cover(None, tuple(why))
        approve.stop_unfit(home, ref, shown)
        return Cover(by, shown=shown)
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return Cover(None, (error.message, *error.candidates))


def give(home: Home, ref: Ref, place: RunPaths, cover: Cover) -> Cover:
    """Derive the approval of a revision that is stored by now, on record; without one where something has changed meanwhile.

    Raises ExecplanError where a disk fails. The caller holds the lock of runs.
    """
    by, shown = cover.by, cover.shown
    if by is None or shown is None:
        return cover
    left = tuple([each.step.id for each in shown.evaluation.steps if not each.is_done])
    risk = by.max_risk.value if by.max_risk is not None else None
    yes = approve.Yes(by.approver, REVISION, 0, risk, left, by.inferred, by, place.id)
    try:
        covered = approval_scope(shown.evaluation, risk, left)
        made = approving.give(home, ref, shown, covered, yes, Options(commit=False)).approval
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            raise
        return Cover(None, (error.message, *error.candidates))
    return cover._replace(given=made)


def _stop_asked(course: RunState) -> None:
    """Refuse where a person is asked, or has stopped the run: no revision answers for them. Raises ExecplanError."""
    question = course.question
    if question is not None and question.why not in REVISED:
        raise _not_covered(f"the run waits for an answer: {question.words}")
    if course.ended is not None and course.ended.said.get("cause") == "cancellation":
        raise _not_covered("somebody has stopped the run")


def _serving(home: Home, ref: Ref, place: RunPaths) -> Approval:
    """The approval under which a run went on last, if it is valid still; raises ExecplanError."""
    kept = [each for each in approvals.every(home, ref) if each.approval is not None]
    own = [each for each in kept if each.approval is not None and _serves(home, each.approval, place)]
    own.sort(key=lambda each: each.approval.revision if each.approval is not None else 0)
    if not own or own[-1].approval is None:
        raise _not_covered(f"no approval of the run {place.id} is left")
    given = own[-1].approval
    for why in _invalid(home, own[-1], given, kept):
        raise _not_covered(f"the approval {given.digest[:12]} covers nothing more: {why}")
    return given


def _serves(home: Home, given: Approval, place: RunPaths) -> bool:
    run = given.derived_from.run if given.derived_from is not None else register.state(home, given.id).run
    return run == place.id


def _invalid(home: Home, kept: Kept, given: Approval, every: list[Kept]) -> Iterator[str]:
    """Why an approval is worth nothing any more."""
    sealing = key.read(home)
    if sealing is None or not seals.verify_signature(given, sealing) or not kept.untouched:
        yield "it is not as it was sealed"
    related = {given.id, *given.origins}
    related |= {
        each.approval.id for each in every if each.approval is not None and given.id in each.approval.origins
    }  # who revokes the approval of a revision wants to be asked
    if any([register.state(home, each).revoked for each in related]):
        yield "it, or one that derives from it, was revoked"
    if len(given.origins) >= MOST:
        yield f"{MOST} revisions in a row went on with what was approved once"
    if why := validity_problem(given.terms(NEVER), now().timestamp()):
        yield why
    policy = effective(home)
    if given.place != standing.place(home):
        yield "it was given in another checkout"
    if given.policy != policy.version:
        yield "the policy has changed since"
    if policy.pin == "tree" and given.tree != tree.tree(home):
        yield "HEAD holds other files than when it was given"


def _document(place: RunPaths, given: Approval) -> ExecutionPlan:
    """The document that was approved, as it is kept with the run; raises ExecplanError."""
    for path in (place.document, revisions.path_of(place, given.revision)):
        data = disk.read(path, revisions.LIMIT)[0] if path == place.document or given.revision > 1 else b""
        if digest(data) == given.document:
            return load(data, ExecutionPlan, path)
    raise _not_covered("what it was given for is not with the run any more")


def _stands(document: ExecutionPlan, course: RunState) -> RunProgress:
    """How the run stands, by its journal."""
    failed = {step.id: orders.alternative(step) for step in document.steps if orders.alternative(step)}
    by_id = {step.id: step for step in document.steps}
    stands = {name: other for name, other in failed.items() if orders.leads_to(by_id[name], course) == ALTERNATIVE}
    return RunProgress(_settled(course), stands)


def _settled(course: RunState) -> frozenset[str]:
    return frozenset({name for name, status in course.status_of.items() if status in states.SUCCESS_STATES} - course.undone)


def _evaluated(home: Home, ref: Ref, place: RunPaths, course: RunState, made: ExecutionPlan) -> Evaluated:
    """The revision as `evaluate` will judge it once it is stored; raises ExecplanError."""
    data, policy, world = to_bytes(made), effective(home), Glance(home)
    underway = ActiveRun(place.id, digest(data), _settled(course))
    path = home.shown(store.path_of(home, ref))
    return Evaluated(
        Current(made, data, path, stored=True, stale="", left=()),
        policy,
        evaluate(made, world, policy, underway),
        bind(data, made, world, policy),
        home.shown(ref.path) if made.source is not None else path,
        underway,
    )


def _drifted(home: Home, course: RunState, by: Approval, shown: Evaluated) -> Iterator[str]:
    """The files and programs that are neither as they were approved nor as the run has left them."""
    known = {**by.binding.states, **course.expected}
    for path, state in shown.binding.states.items():
        why = describe_difference(known[path], state) if path in known else "it was not approved with the rest"
        if why:
            yield f"{path}: {why}"
    if shown.policy.programs == "refuse":
        found = shown.binding.programs or {}
        yield from describe_changed_programs({**(by.binding.programs or {}), **course.programs}, found)


def _unapproved(by: Approval, shown: Evaluated) -> Iterator[str]:
    """The steps that are left to be done and that the approval leaves out."""
    terms = by.terms(shown.policy.person_from)
    for each in shown.evaluation.steps:
        if not each.is_done and not find_approver(terms, each.step.id, each.risk.level, inferred=each.step.inferred):
            yield f"the step {each.step.id} is not covered by it"


def _not_covered(what: str) -> ExecplanError:
    return ExecplanError("not-approved", what, exit=POLICY, hint="a person approves it: execplan approve")
