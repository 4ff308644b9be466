"""Permission check before each attempt of a step, by engine or agent: is the step approved, and is it its turn?"""

from __future__ import annotations

from time import monotonic

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.execution import states
from execplan.execution.engine import run_questions, step_order
from execplan.execution.permission import DENY, StepRequest, check_permission, find_approver, validity_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from execplan.execution.engine.ordering_fields import Step
    from execplan.execution.engine.run_state import Question, RunState
    from execplan.execution.engine.step_order import StepOrder
    from execplan.execution.permission import ApprovalTerms, Permission, StepRequest


def step_question(step: Step, run_state: RunState, interval: int) -> Question | None:
    """Return the question to ask before each call of a step, until it is answered.

    Execplan does not learn what the agent's user answers to the agent.
    """
    return run_questions.checkpoint_question(run_state, interval) or run_questions.confirm_question(run_state, step)


def build_permission_request(
    step: Step, level: str, run_state: RunState, order: StepOrder, *, interval: int, path_exists: Callable[[str], bool]
) -> StepRequest:
    """Build the permission request for a step of a risk level; the engine, `report` and the agents' guard all use it.

    `interval`: number of completed steps after which the run asks whether to continue. `path_exists` returns whether
    a path exists.
    """
    status = step_order.effective_status(step, run_state)
    question = step_question(step, run_state, interval)
    return StepRequest(
        step.id,
        level,
        step.inferred,
        status,
        tuple(order.open_dependencies(step, run_state)),
        calls=sum([not call.fields.get("further") for call in run_state.attempts[step.id][-1].calls])
        if status == states.RUNNING
        else 0,
        max_calls=step.max_invocations,
        condition_failure=order.skip_reason(step, run_state, path_exists) if status != states.RUNNING else "",
        question=question.words if question is not None else "",
    )


class Permit(NamedTuple):
    """The actions that an approval of an execution plan permits."""

    terms: ApprovalTerms
    levels: Mapping[str, str]
    """The rated risk of each step, by step ID."""
    order: StepOrder
    interval: int
    """Number of completed steps after which a run asks whether to continue."""
    path_exists: Callable[[str], bool]
    """Function that returns whether a path exists."""
    issued_at: tuple[float, float]
    """When the permit was issued, by the wall clock and by time.monotonic()."""

    def step_request(self, step: Step, run_state: RunState) -> StepRequest:
        """Build the permission request of a step."""
        return build_permission_request(
            step, self.levels[step.id], run_state, self.order, interval=self.interval, path_exists=self.path_exists
        )

    def begin(self, step: Step, run_state: RunState) -> Permission:
        """Return the permission to begin an attempt of a step now, and its approver. Raises ExecplanError if denied."""
        request = self.step_request(step, run_state)._replace(calls=0)
        permission = check_permission(request, self.terms, run_state.status_of, self.current_time())
        if permission.kind != DENY:
            return permission
        message = f"step {step.id} was not started: {permission.why}"
        if not find_approver(self.terms, step.id, request.level, inferred=request.inferred):
            raise ExecplanError("step-not-approved", message, hint="a person must approve it: execplan approve")
        if validity_problem(self.terms, self.current_time()):
            hint = "approve the remaining steps, then resume: execplan approve; execplan resume"
            raise ExecplanError("approval-expired", message, hint=hint)
        hint = "see which step is next and which steps are done: execplan handoff"
        raise ExecplanError("bad-transition", message, hint=hint)

    def current_time(self) -> float:
        """Return seconds since 1970, by a clock that cannot be set back while a run is active."""
        wall, steady = self.issued_at
        return max(now().timestamp(), wall + monotonic() - steady)


def issue_permit(
    terms: ApprovalTerms, levels: Mapping[str, str], order: StepOrder, interval: int, path_exists: Callable[[str], bool]
) -> Permit:
    """Create a permit that is issued now."""
    return Permit(terms, levels, order, interval, path_exists, (now().timestamp(), monotonic()))
