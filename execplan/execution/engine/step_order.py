"""Order of the steps of a document: dependencies, conditions and alternatives. The agent guard uses it as well."""

from __future__ import annotations

from execplan.execution import states
from execplan.execution.attributes import STEP_OUTCOMES, named_alternative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from execplan.execution.engine.ordering_fields import Step, When
    from execplan.execution.engine.run_state import RunState


class StepOrder:
    """The order of the steps of a document, as defined by their fields."""

    def __init__(
        self, steps: Sequence[Step], chosen: Collection[str] | None = None, *, sequential: bool = False
    ) -> None:
        """Create the order; `chosen` defaults to all steps. With `sequential`, each step waits for all before it."""
        self.steps = {step.id: step for step in steps}
        self.chosen = set(self.steps) if chosen is None else set(chosen)
        self.alternative_owners: dict[str, list[str]] = {}
        """Maps each alternative to the steps that it replaces on failure; an alternative never runs on its own."""
        for step in steps:
            alternative_id = named_alternative(step.on_failure.strategy)
            if step.id in self.chosen and alternative_id in self.chosen:
                self.alternative_owners.setdefault(alternative_id, []).append(step.id)
        self.is_sequential = sequential

    def alternative_step(self, step: Step) -> str:
        """Return the ID of the chosen step that is the alternative of a step, or an empty string."""
        alternative_id = named_alternative(step.on_failure.strategy)
        return alternative_id if step.id in self.alternative_owners.get(alternative_id, ()) else ""

    def dependencies(self, step: Step) -> list[str]:
        """Return the steps that must be finished before a step can have its turn.

        They do not include the failed step that an alternative replaces.
        """
        condition_steps = [step.when.of] if step.when is not None and step.when.kind in STEP_OUTCOMES else []
        return [
            *step.depends_on,
            *[name for name in condition_steps if name not in self.alternative_owners.get(step.id, ())],
        ]

    def open_dependencies(self, step: Step, run_state: RunState) -> list[str]:
        """Return the dependencies of a step and, if the order is sequential, the open steps before it."""
        if not self.is_sequential:
            return self.dependencies(step)
        alternatives = self.pending_alternatives(run_state)
        turn = self._turn_order(step, alternatives)
        earlier_steps = [earlier for earlier in self.steps.values() if self._turn_order(earlier, alternatives) < turn]
        earlier_steps = [
            earlier
            for earlier in earlier_steps
            if earlier.id not in self.alternative_owners or earlier.id in alternatives.values()
        ]
        open_ids = [earlier.id for earlier in earlier_steps if self._is_open(earlier, run_state)]
        return list(dict.fromkeys([*self.dependencies(step), *open_ids]))

    def _turn_order(self, step: Step, alternatives: Mapping[str, str]) -> tuple[int, int]:
        """Return the sort key of a step. An alternative has the turn of the step that it replaces."""
        owners = [self.steps[name].number for name, alternative_id in alternatives.items() if alternative_id == step.id]
        return min(owners, default=step.number), step.number

    def _is_open(self, step: Step, run_state: RunState) -> bool:
        """Return whether a step is running, or is still to run and has all its dependencies finished."""
        step_status = effective_status(step, run_state)
        is_ready = all([run_state.status_of.get(name) in states.SUCCESS_STATES for name in self.dependencies(step)])
        return step_status == states.RUNNING or (step_status in (states.PENDING, states.AWAITING) and is_ready)

    def pending_alternatives(self, run_state: RunState) -> dict[str, str]:
        """Return the alternatives that are to run now, by the ID of the failed step."""
        from execplan.execution.engine.recovery.failure_recovery import ALTERNATIVE

        alternatives = {}
        for name in run_state.steps_with_status(states.FAILED):
            step = self.steps[name]
            if (alternative_id := self.alternative_step(step)) and recovery_kind(step, run_state) == ALTERNATIVE:
                alternatives[name] = alternative_id
        return alternatives

    def skip_reason(self, step: Step, run_state: RunState, path_exists: Callable[[str], bool]) -> str:
        """Return why a step has no turn regardless of its dependencies, or an empty string.

        Its condition is not met, or it is an alternative of steps that have not failed.
        """
        owners = self.alternative_owners.get(step.id, ())
        if owners and step.id not in self.pending_alternatives(run_state).values():
            return f"it is the alternative to {', '.join(owners)}, which has not failed"
        return unmet_condition(step.when, run_state, path_exists)


def recovery_kind(step: Step, run_state: RunState) -> str:
    """Return the kind of recovery, as in failure_recovery.py, after the last attempt of a failed step.

    Returns an empty string if no attempt has ended.
    """
    from execplan.execution.engine.recovery.failure_recovery import choose_recovery

    performed = run_state.last_result(step.id)
    return choose_recovery(step, performed, run_state.count_tries(step.id)).kind if performed is not None else ""


def effective_status(step: Step, run_state: RunState) -> str:
    """Return the status of a step; a failed step that is to be retried is pending."""
    step_status = run_state.status_of[step.id]
    if step_status != states.FAILED:
        return step_status
    from execplan.execution.engine.recovery.failure_recovery import RETRY

    attempt = run_state.last_attempt(step.id)
    end_number = attempt.entry if attempt is not None else 0
    is_retry_requested = any(
        [
            (entry.fields["step"], entry.fields["answer"]) == (step.id, "again") and entry.number > end_number
            for entry in run_state.answers
        ]
    )
    return states.PENDING if is_retry_requested or recovery_kind(step, run_state) == RETRY else step_status


def unmet_condition(when: When | None, run_state: RunState, path_exists: Callable[[str], bool]) -> str:
    """Return why a condition is not met now, or an empty string."""
    if when is None or _is_met(when, run_state, path_exists):
        return ""
    return f"the condition {_format_condition(when)} is not met"


def _is_met(when: When, run_state: RunState, path_exists: Callable[[str], bool]) -> bool:
    if when.kind not in STEP_OUTCOMES:
        path = _path_inside(when.of)
        return (path is not None and path_exists(path)) == (when.kind == "exists")
    step_status = run_state.status_of[when.of]
    if when.kind == "succeeded":
        return step_status in (states.COMPLETED, states.RECOVERED)
    if when.kind == "skipped":
        return step_status == states.SKIPPED
    performed = run_state.last_result(when.of)
    return performed is not None and not performed.ok


def _path_inside(path: str) -> str | None:
    from execplan.execution.world import normalize_path

    return normalize_path(path)


def _format_condition(when: When) -> str:
    return f"{when.of}.{when.kind}" if when.kind in STEP_OUTCOMES else f"{when.kind}:{when.of}"
