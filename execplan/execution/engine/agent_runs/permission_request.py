"""Permission requests for steps that are about to run, built from the document, the run state and the step order."""

from __future__ import annotations

from execplan.execution import states
from execplan.execution.engine import run_questions, step_order
from execplan.execution.permission import StepRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.execution.engine.ordering_fields import Step
    from execplan.execution.engine.run_state import Question, RunState
    from execplan.execution.engine.step_order import StepOrder


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
