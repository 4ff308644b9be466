"""A call for which no warrant is in force: all that `run` asks before it begins is asked, and then the run begins, or goes on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan import clock
from execplan.agents.guard import keep
from execplan.agents.guard.basis import Basis
from execplan.agents.guard.decide import Judged, judge
from execplan.agents.guard.planned import Planned
from execplan.engine.agent import begin, current, warrant
from execplan.engine.course import Course
from execplan.engine.order import Order
from execplan.engine.plain import plainly
from execplan.errors import ENVIRONMENT, POLICY, ExecplanError
from execplan.execution.evaluate import risk_of
from execplan.execution.permission import DENY
from execplan.repo import homes, pick, shelf
from execplan.repo.execution import approvals, standing
from execplan.repo.execution.policy import effective

if TYPE_CHECKING:
    from execplan.agents.guard.call import Call
    from execplan.repo.execution.standing import Standing
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def judged(call: Call, named: str | None, *, asks: bool) -> tuple[Judged, tuple[str, ...]]:
    """What becomes of a call, and what no reason tells; raises ExecplanError."""
    home = homes.find(os.getcwd())
    if not home.exists:  # nobody looks for homes below: that may take longer than there is
        what = f"no plans folder in {home.base} or above"
        raise ExecplanError("no-home", what, exit=ENVIRONMENT, hint="the agent works where there is no plan")
    policy = effective(home)
    bare = judge(call, Basis(home, policy.reads, policy.tools), clock.seconds())
    if bare.kind != DENY:
        return bare, ()
    home, ref = _plan(home, named)
    found, run = _stands(home, ref)
    basis = _basis(home, ref, found, run)
    told = judge(call, basis, clock.seconds())
    if not told.is_step:
        return told, basis.hidden
    with keep.lock(home, call):
        begin.begin(home, ref, session=call.session)
        issued = warrant.load(home, ref.id)
        if issued is None:
            return Judged(DENY, "the warrant of the run was changed while it was written", told.step), basis.hidden
        return keep.kept(call, issued, asks=asks), basis.hidden


def _plan(home: Home, named: str | None) -> tuple[Home, Ref]:
    """The plan that is meant: named, or the only one that allows anything; raises ExecplanError."""
    if named is not None or os.environ.get("EXECPLAN_PLAN"):
        return pick.open_plan(os.getcwd(), named)
    known = [ref for ref in shelf.every(home) if not ref.archived and approvals.every(home, ref)]
    holding = [ref for ref in known if _allows(home, ref)] or known
    if len(holding) == 1:
        return home, holding[0]
    what = f"{len(holding)} plans are approved here" if holding else "no plan is approved here"
    hint = (
        "name the one that is carried out: execplan guard -p PLAN"
        if holding
        else "a person approves one: execplan approve"
    )
    raise ExecplanError("not-approved", what, exit=POLICY, hint=hint, candidates=[ref.id for ref in holding])


def _allows(home: Home, ref: Ref) -> bool:
    try:
        _stands(home, ref)
    except ExecplanError:
        return False
    return True


def _stands(home: Home, ref: Ref) -> tuple[Standing, Any]:
    """How a plan stands that may be carried out, and its run that is under way; raises ExecplanError."""
    run = current.last(home, ref)
    run = run if run is not None and run.goes_on else None
    if run is not None:
        current.stop_waiting(ref, run)
    return standing.require(home, ref, run=run.place.id if run is not None else ""), run


def _basis(home: Home, ref: Ref, found: Standing, run: Any) -> Basis:
    """What the call is judged by before the run has begun, or goes on."""
    assert found.now is not None  # what may run compiles to something
    assert found.approval is not None
    document, policy = found.now.current.document, found.now.policy
    told = document.model_dump(mode="json", by_alias=True)
    plain = plainly(told)
    course = Course(document, run.entries if run is not None else ())
    course.expected = {**found.now.binding.states, **course.expected}
    levels = {step.id: risk_of(step, policy).level for step in document.steps}
    return Basis(
        home=home,
        reads=policy.reads,
        tools=policy.tools,
        hidden=warrant.hidden(document),
        plan=ref.id,
        constraints=told["constraints"],
        planned=tuple([Planned(step, levels[step["id"]]) for step in told["steps"]]),
        plain={step.id: step for step in plain.steps},
        order=Order(plain.steps, sequential=document.constraints.require_sequential),
        course=course,
        terms=found.approval.terms(policy.person_from),
        interval=policy.checkpoint_interval,
    )
