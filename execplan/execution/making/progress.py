"""How far the steps of a plan have come, for whoever runs or revises it; never part of the plan itself."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from execplan.execution import states
from execplan.execution.documents.request import Request
from execplan.execution.model import Id, Number
from execplan.execution.record import RunStatus, StepStatus


class ExecutionState(Request):
    """The states of a run and of its steps; a step that is not named is pending."""

    status: RunStatus = "pending"
    current_step: Number | None = None
    steps: Annotated[dict[Id, StepStatus], Field(default={})]

    def advance(self, step: str, new_state: str) -> ExecutionState:
        """With a step in another state; raises ExecplanError where that may not follow."""
        step_state = states.advance(self.steps.get(step, states.PENDING), new_state)
        return self._updated(steps={**self.steps, step: step_state})

    def advance_run(self, new_state: str) -> ExecutionState:
        """With the run in another state; raises ExecplanError where that may not follow."""
        return self._updated(status=states.advance(self.status, new_state, states.RUN_TRANSITIONS))

    def _updated(self, **changed: object) -> ExecutionState:
        return ExecutionState.model_validate({**self.model_dump(), **changed})
