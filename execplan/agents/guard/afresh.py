"""A call for which no warrant is in force: all that `run` asks before it begins is asked, and then the run begins, or goes on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan import clock
from execplan.agents.guard import keep
from execplan.agents.guard.basis import Basis, of_run
from execplan.agents.guard.decide import Judged, judge
from execplan.agents.guard.planned import Planned
from execplan.engine.agent import begin, current, warrant
from execplan.engine.course import RunState
from execplan.engine.order import StepOrder
from execplan.engine.plain import parse_plain_document
from execplan.errors import CHANGED, POLICY, ExecplanError
from execplan.execution.evaluate import effective_risk
from execplan.execution.permission import DENY
from execplan.execution.states import FAILED
from execplan.repo import pick, shelf
from execplan.repo.execution import approvals, standing

if TYPE_CHECKING:
    from execplan.agents.guard.call import Call
    from execplan.engine.agent.current import AgentRun
    from execplan.repo.execution.standing import Standing
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def by_plan(home: Home, call: Call, named: str | None, *, asks: bool) -> tuple[Judged, tuple[str, ...]]:
    """What becomes of a call by the plan that is meant, whose run begins with the first step; raises ExecplanError."""
    home, ref = _plan(home, named)
    issued = warrant.load(home, ref.id)
    if issued is not None:  # it was not named by its id
        entries = keep.entries_of(issued)
        basis = of_run(issued, entries)
        if not keep.is_over(basis):
            return keep.by_warrant(call, issued, entries, basis, asks=asks), issued.hidden
    found, run = _stands(home, ref)
    basis = _basis(home, ref, found, run)
    told = judge(call, basis, clock.seconds())
    if not told.is_step:
        return told, basis.hidden
    with keep.lock(home, call):
        issued = warrant.load(home, ref.id)
        if issued is None or keep.is_over(of_run(issued, keep.entries_of(issued, locked=True))):
            begin.start_or_resume(home, ref, session=call.session)
            issued = warrant.load(home, ref.id)
        if issued is None:
            return Judged(DENY, "the warrant of the run was changed while it was written", told.step), basis.hidden
        entries = keep.entries_of(issued, locked=True)
        basis = of_run(issued, entries)
        told = judge(call, basis, keep.moment(entries))
        return keep.kept(call, issued, entries, basis, told, asks=asks), basis.hidden


def _plan(home: Home, named: str | None) -> tuple[Home, Ref]:
    """The plan that is meant: named, or the only one that allows anything; raises ExecplanError."""
    if named is not None or os.environ.get("EXECPLAN_PLAN"):
        return pick.open_plan(os.getcwd(), named)
    known = [ref for ref in shelf.every(home) if not ref.archived and approvals.every(home, ref)]
    holding = [ref for ref in known if len(known) == 1 or _allows(home, ref)] or known
    if len(holding) == 1:
        return home, holding[0]
    what = f"{len(holding)} plans are approved here" if holding else "no plan is approved here"
    one = "name the one that is carried out: execplan guard -p PLAN"
    hint = one if holding else "a person approves one: execplan approve"
    raise ExecplanError("not-approved", what, exit=POLICY, hint=hint, candidates=[ref.id for ref in holding])


def _allows(home: Home, ref: Ref) -> bool:
    try:
        _stands(home, ref)
    except ExecplanError:
        return False
    return True


def _stands(home: Home, ref: Ref) -> tuple[Standing, Any]:
    """How a plan stands that may be carried out, and its run that is under way; raises ExecplanError."""
    last = current.find_last(home, ref)
    run = last if last is not None and last.is_active else None
    if run is not None:
        current.ensure_not_waiting(ref, run)
    try:
        return standing.require(home, ref, run=run.run_paths.id if run is not None else "", programs=False), run
    except ExecplanError as error:
        raise _over(ref, last, error) from error


def _over(ref: Ref, last: AgentRun | None, error: ExecplanError) -> ExecplanError:
    """Why nothing more is allowed where the approval was used by the agent's own run: that has ended, and how."""
    if last is None or last.is_active or error.code != "approval-used":
        return error
    what, number = f"the run {last.run_paths.id} of {ref.id} is {last.run_state.status.replace('_', ' ')}", last.run_paths.number
    if last.run_state.status != FAILED:
        return ExecplanError(
            "approval-used", f"{what}: nothing is left to be done by what was approved", exit=CHANGED, hint=error.hint
        )
    hint = f"a person takes it up or takes it back: execplan resume {number} -p {ref.typed}; execplan rollback {number} -p {ref.typed}"
    return ExecplanError("approval-used", what, exit=CHANGED, hint=hint)


def _basis(home: Home, ref: Ref, found: Standing, run: Any) -> Basis:
    """What the call is judged by before the run has begun, or goes on."""
    assert found.now is not None  # what may run compiles to something
    assert found.approval is not None
    document, policy = found.now.current.document, found.now.policy
    told = document.model_dump(mode="json", by_alias=True)
    plain = parse_plain_document(told)
    course = RunState(document, run.entries if run is not None else ())
    course.expected_states = {**found.now.binding.states, **course.expected_states}
    levels = {step.id: effective_risk(step, policy).level for step in document.steps}
    return Basis(
        home=home,
        reads=policy.reads,
        tools=policy.tools,
        hidden=warrant.find_secrets(document),
        plan=ref.id,
        constraints=told["constraints"],
        planned=tuple([Planned(step, levels[step["id"]]) for step in told["steps"]]),
        plain={step.id: step for step in plain.steps},
        order=StepOrder(plain.steps, sequential=document.constraints.require_sequential),
        course=course,
        terms=found.approval.terms(policy.person_from),
        interval=policy.checkpoint_interval,
    )
