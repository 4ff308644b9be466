"""The steps that a run may begin: those chosen and not done yet, in order, with the permit of their approval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.text.message_parts import format_count
from execplan.core.text.suggestions import closest_names
from execplan.execution.approval_document import Approval
from execplan.execution.approvals.approved_plan import ApprovedPlan
from execplan.execution.engine.run_observer import RunOptions
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_permission import Permit, issue_permit
from execplan.execution.evaluation.approval_scope import expand_step_id
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.permission import find_approver
from execplan.execution.risk.step_risk import effective_risk


class ApprovedSteps(NamedTuple):
    """The steps that a run is to begin, all of them approved, with their order and their permit."""

    steps: Sequence[Step]
    schedule: Schedule
    permit: Permit


_RUN_HINT: Final = (
    "approve them too, or select other steps with --step: execplan approve; steps that a failed run has completed are not "
    "approved again: resume that run, or roll it back: execplan resume, execplan rollback"
)
_RESUME_HINT: Final = (
    "approve them too, without --step, then resume the run again, or roll it back: execplan approve; execplan rollback"
)


def require_approved_steps(
    approved_plan: ApprovedPlan, schedule: Schedule, run_state: RunState | None = None, *, hint: str = ""
) -> ApprovedSteps:
    """Return the scheduled steps that are still to run, of a run if its state is given.

    Raises ExecplanError if one is not approved; `hint` replaces the one for `run` or `resume`.
    """
    steps = remaining_steps(schedule, run_state)
    permit = permit_for(approved_plan, schedule)
    hint = hint or (_RUN_HINT if run_state is None else _RESUME_HINT)
    _ensure_steps_approved(permit, approved_plan.approval, steps, hint)
    return ApprovedSteps(steps, schedule, permit)


def resumed_schedule(run_state: RunState, path_exists: Callable[[str], bool]) -> Schedule:
    """Return the schedule of a run that continues; in a new revision all steps are chosen."""
    chosen_ids = None if run_state.replans else run_state.begin_fields["chosen"]
    return Schedule(run_state.document, chosen_ids, path_exists)


def remaining_steps(schedule: Schedule, run_state: RunState | None) -> list[Step]:
    """Return the chosen steps that a run has not done yet: all of them, if it has not begun."""
    settled_ids = run_state.settled_steps if run_state is not None else set()
    return [step for step in schedule.steps if step.id in schedule.chosen - settled_ids]


def permit_for(approved_plan: ApprovedPlan, schedule: Schedule) -> Permit:
    """Create the permit for the steps of a schedule under the current approval."""
    policy = approved_plan.policy
    levels = {step.id: effective_risk(step, policy).level for step in schedule.steps}
    terms = approved_plan.terms
    return issue_permit(terms, levels, schedule.order, policy.checkpoint_interval, schedule.path_exists)


def _ensure_steps_approved(permit: Permit, approval: Approval, steps: Sequence[Step], hint: str) -> None:
    """Raise ExecplanError if one of these steps is not approved."""
    levels = permit.levels
    missing = [
        f"{step.id}: {levels[step.id]}" + (", inferred" if step.inferred else "")
        for step in steps
        if not find_approver(permit.terms, step.id, levels[step.id], inferred=step.inferred)
    ]
    if missing:
        raise ExecplanError(
            "step-not-approved",
            f"approval {approval.digest[:12]} doesn't cover {format_count(len(missing), 'step')} of those to run",
            hint=hint,
            candidates=missing,
        )


def select_step_ids(document: ExecutionPlan, run_options: RunOptions) -> list[str] | None:
    """Return the IDs of the selected steps, or None for all steps. Raises ExecplanError for an unknown step."""
    if run_options.begin:
        first_number = _find_steps(document, run_options.begin)[0].number
        return [step.id for step in document.steps if step.number >= first_number]
    chosen_ids = {step.id for name in run_options.steps for step in _find_steps(document, name)}
    return [step.id for step in document.steps if step.id in chosen_ids] if chosen_ids else None


def _find_steps(document: ExecutionPlan, name: str) -> list[Step]:
    """Return the step with an ID or number, or the steps of a code block with several commands.

    Raises ExecplanError.
    """
    block_ids = expand_step_id([step.id for step in document.steps], name)
    steps = [step for step in document.steps if name in (step.id, str(step.number))] or [
        step for step in document.steps if step.id in block_ids
    ]
    if steps:
        return steps
    known_ids = [step.id for step in document.steps]
    suggestions = closest_names(name, known_ids) or known_ids
    raise ExecplanError("no-such-step", f"unknown step {name!r}", hint="use one of these", candidates=suggestions)
