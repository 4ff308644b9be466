"""The question that a person must answer before the next step of an agent's run, also before the run waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution import states
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.engine.agent_runs.agent_transitions import next_steps
from execplan.execution.engine.agent_runs.permission_request import step_question
from execplan.execution.engine.agent_runs.recorded_reports import build_schedule

if TYPE_CHECKING:
    from execplan.core.project.project import Project
    from execplan.execution.engine.run_state import Question, RunState
    from execplan.execution.engine.schedule import Schedule


def next_question(
    run_state: RunState, schedule: Schedule, interval: int, *, is_required: bool = False
) -> Question | None:
    """Return the question that would come before the next call, even if the run does not wait for it yet.

    With `is_required`, returns None if a step can run without an answer.
    """
    questions = [step_question(step, run_state, interval) for step in next_steps(run_state, schedule)]
    if is_required and None in questions:
        return None
    return next((question for question in questions if question is not None), None)


def open_question(project: Project, run_state: RunState) -> Question | None:
    """Return the question for which an agent's run waits, or before which no step can begin. Raises ExecplanError.

    If the guard sees the calls of the run, the agent's program asks its user at the next one, so the run does not wait
    before that.
    """
    is_guarded = any([attempt.calls for attempts in run_state.attempts.values() for attempt in attempts])
    if (
        run_state.question is not None
        or run_state.status != states.IN_PROGRESS
        or run_state.open_attempts()
        or is_guarded
    ):
        return run_state.question
    interval = effective_policy(project).checkpoint_interval
    return next_question(run_state, build_schedule(project, run_state), interval, is_required=True)
