"""What becomes of a call: what would free the agent, then what the document forbids, what passes, what is planned, what is read."""

from __future__ import annotations

from execplan.agents.guard import compound, drift, own, reading
from execplan.agents.guard.call import COMMAND, HARMLESS, TOOL
from execplan.agents.guard.match import match
from execplan.engine.agent.asked import build_permission_request
from execplan.execution.permission import ALLOW, ASK, DENY, check_permission
from execplan.execution.states import RUNNING
from execplan.execution.world import ABSENT, OUTSIDE
from execplan.record import NamedTuple
from execplan.repo.execution.world import Disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.basis import Basis
    from execplan.agents.guard.call import Call
    from execplan.agents.guard.match import Match, Matched
    from execplan.agents.guard.planned import Planned
    from execplan.execution.permission import Permission


class Judged(NamedTuple):
    """What was found."""

    kind: str
    """ALLOW, ASK or DENY."""
    why: str
    step: str = ""
    """That the call is of; of a denial the nearest one, or nothing."""
    paths: tuple[str, ...] = ()
    """What the call writes, from the root."""
    by: str = ""
    """Who has approved the step."""
    further: bool = False
    """Whether the step's `allow` permits it besides the step's own calls."""

    @property
    def is_step(self) -> bool:
        """Whether a step is done by it: then it goes into the journal before the agent is told."""
        return self.kind != DENY and bool(self.step)


def judge(call: Call, basis: Basis, moment: float) -> Judged:
    """What becomes of a call at a moment, in seconds since 1970; raises ExecplanError."""
    around = basis.around
    if why := own.frees(call, around, basis.home):
        return Judged(DENY, why)
    found = match(call, basis.planned, around, basis.reads)
    if found.refused:
        return Judged(DENY, found.refused, found.nearest)
    if call.kind == HARMLESS or (call.kind == TOOL and call.tool in basis.tools):
        return Judged(ALLOW, f"{call.tool} changes nothing that is guarded")
    if own.ours(call, around):
        return Judged(ALLOW, "it reads or reports with execplan itself")
    read = reading.judge(call, around, basis.reads)
    if not read.kind and call.kind == COMMAND and compound.only_reads(call, around, basis.reads):
        read = reading.Reading(ALLOW)
    if read.kind == DENY:
        return Judged(DENY, read.why, found.nearest)
    steps = [_of(each, basis, moment) for each in found.matches]
    words = Judged(read.kind, read.why or "it only reads") if read.kind else None
    return _best(steps, words) or _unplanned(found, basis, read.why, moment)


def _best(steps: Sequence[Judged], read: Judged | None) -> Judged | None:
    """Of the steps the first that is allowed; else what is said of reading; else one that is asked about; else the first denial."""
    for kind in (ALLOW, ASK, DENY):
        for each in steps:
            if each.kind == kind:
                return each
        if read is not None and read.kind == kind:
            return read
    return None


def _of(found: Match, basis: Basis, moment: float) -> Judged:
    """What becomes of a call that is of a step."""
    assert basis.course is not None  # where there are steps there is all of this
    step, planned = basis.plain[found.step], next(each for each in basis.planned if each.step["id"] == found.step)
    permission = _permission(planned, basis, moment, further=found.further)
    if permission.kind == DENY:
        return Judged(DENY, permission.why, found.step)
    if why := drift.drifted(planned.step, basis.course, Disk(basis.home)):
        return Judged(DENY, f"{found.step} is not begun: {why}", found.step)
    why = permission.why or f"the step {step.number} of {basis.plan}, {found.step}"
    return Judged(permission.kind, why, found.step, found.paths, permission.approved_by, found.further)


def _permission(planned: Planned, basis: Basis, moment: float, *, further: bool = False) -> Permission:
    """Whether a step may be called now, as far as its turn goes; a further call does not count as one of the step."""
    assert basis.course is not None
    assert basis.order is not None
    assert basis.terms is not None
    disk, step = Disk(basis.home), basis.plain[planned.step["id"]]

    def there(path: str) -> bool:
        return disk.state(path).kind not in (ABSENT, OUTSIDE)

    told = build_permission_request(step, planned.level, basis.course, basis.order, interval=basis.interval, path_exists=there)
    told = told._replace(calls=0) if further else told
    return check_permission(told, basis.terms, basis.course.status_of, moment)


def _up_now(basis: Basis, moment: float) -> str:
    """How an agent goes on whose call is like no step."""
    names = [each.step["id"] for each in basis.planned if _permission(each, basis, moment).kind != DENY]
    running = basis.course.steps_with_status(RUNNING) if basis.course is not None else ()
    if running:
        return f"; in hand, to be reported: {', '.join(running)}"
    return (
        f"; up now: {', '.join(names[:3])}, as execplan handoff has it"
        if names
        else "; what is up now: execplan handoff"
    )


def _unplanned(found: Matched, basis: Basis, why: str, moment: float) -> Judged:
    """What becomes of a call that no step plans."""
    if basis.constraints.get("allow_unplanned"):
        return Judged(ASK, f"no step of {basis.plan} plans this: {found.why}")
    if not basis.plan:
        words = "nothing is planned here, so nothing may be done"
    elif found.nearest:
        words = f"no step of {basis.plan} plans this; the nearest step is {found.nearest}: {found.why}"
    else:
        words = f"no step of {basis.plan} plans this" + (f": {found.why}" if found.why else "") + _up_now(basis, moment)
    return Judged(DENY, f"{words}; {why}" if why else words, found.nearest)
