"""What is asked before an attempt of a step is begun, by the engine as by an agent: is it approved, now, and is it its turn?"""

from __future__ import annotations

from time import monotonic

from execplan.clock import now
from execplan.engine.agent.asked import build_permission_request
from execplan.errors import CHANGED, INPUT, POLICY, ExecplanError
from execplan.execution.permission import DENY, find_approver, check_permission, validity_problem
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from execplan.engine.course import RunState
    from execplan.engine.order import Order
    from execplan.engine.plain import Step
    from execplan.execution.permission import StepRequest, Permission, ApprovalTerms


class Permit(NamedTuple):
    """What an approval lets be done of a document."""

    terms: ApprovalTerms
    levels: Mapping[str, str]
    """By step, its risk as it was rated."""
    order: Order
    interval: int
    """Completed steps behind which a run asks whether it is to go on."""
    there: Callable[[str], bool]
    """Whether something is at a path."""
    since: tuple[float, float]
    """When it was made, by the clock and by time.monotonic()."""

    def asked(self, step: Step, course: RunState) -> StepRequest:
        """What is asked of a step."""
        return build_permission_request(step, self.levels[step.id], course, self.order, interval=self.interval, path_exists=self.there)

    def begin(self, step: Step, course: RunState) -> Permission:
        """Whether an attempt of a step may be begun now, by whom that is approved; raises ExecplanError."""
        told = self.asked(step, course)._replace(calls=0)
        found = check_permission(told, self.terms, course.status_of, self.moment())
        if found.kind != DENY:
            return found
        what = f"{step.id} was not begun: {found.why}"
        if not find_approver(self.terms, step.id, told.level, inferred=told.inferred):
            raise ExecplanError("step-not-approved", what, exit=POLICY, hint="a person approves it: execplan approve")
        if validity_problem(self.terms, self.moment()):
            hint = "approve what is left of it, then go on: execplan approve; execplan resume"
            raise ExecplanError("approval-expired", what, exit=CHANGED, hint=hint)
        hint = "see which step has its turn, and which are done: execplan handoff"
        raise ExecplanError("bad-transition", what, exit=INPUT, hint=hint)

    def moment(self) -> float:
        """Seconds since 1970, by a clock that nobody sets back while a run is at work."""
        wall, steady = self.since
        return max(now().timestamp(), wall + monotonic() - steady)


def permit(
    terms: ApprovalTerms, levels: Mapping[str, str], order: Order, interval: int, there: Callable[[str], bool]
) -> Permit:
    """What holds from now on."""
    return Permit(terms, levels, order, interval, there, (now().timestamp(), monotonic()))
