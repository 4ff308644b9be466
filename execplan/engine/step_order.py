"""What the steps of a document wait for, and when one has its turn: for the engine and for the guard of an agent alike."""

from __future__ import annotations

from execplan.engine.recovery.failure_recovery import ALTERNATIVE as STANDS_IN
from execplan.engine.recovery.failure_recovery import RETRY, choose_recovery
from execplan.execution import states
from execplan.execution.attributes import ALTERNATIVE, STEP_OUTCOMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from execplan.engine.plain_document import Step, When
    from execplan.engine.run_state import RunState


class StepOrder:
    """The order of the steps of a document, as far as their fields tell it."""

    def __init__(
        self, steps: Sequence[Step], chosen: Collection[str] | None = None, *, sequential: bool = False
    ) -> None:
        """None for chosen: all steps. `sequential`: each waits for all before it, whatever it needs of them."""
        self.steps = {step.id: step for step in steps}
        self.chosen = set(self.steps) if chosen is None else set(chosen)
        self.alternative_owners: dict[str, list[str]] = {}
        """By step that is an alternative, the steps that it stands in for: it is not done by itself."""
        for step in steps:
            alternative_id = named_alternative(step)
            if step.id in self.chosen and alternative_id in self.chosen:
                self.alternative_owners.setdefault(alternative_id, []).append(step.id)
        self._sequential = sequential

    def alternative_step(self, step: Step) -> str:
        """The chosen step that is to stand in for a step, or nothing."""
        alternative_id = named_alternative(step)
        return alternative_id if step.id in self.alternative_owners.get(alternative_id, ()) else ""

    def dependencies(self, step: Step) -> list[str]:
        """What must be settled before a step can have its turn; an alternative waits for the failure in another way."""
        condition_steps = [step.when.of] if step.when is not None and step.when.kind in STEP_OUTCOMES else []
        return [
            *step.depends_on,
            *[name for name in condition_steps if name not in self.alternative_owners.get(step.id, ())],
        ]

    def open_dependencies(self, step: Step, run_state: RunState) -> list[str]:
        """What must be settled before, as the run stands: with what comes before it, where the order is strict."""
        if not self._sequential:
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
        """Where a step comes: an alternative has the turn of the step that it stands in for."""
        owners = [self.steps[name].number for name, alternative_id in alternatives.items() if alternative_id == step.id]
        return min(owners, default=step.number), step.number

    def _is_open(self, step: Step, run_state: RunState) -> bool:
        """Whether a step is in hand, or is to be done and waits for none of those that it needs."""
        step_status = effective_status(step, run_state)
        is_ready = all([run_state.status_of.get(name) in states.SUCCESS_STATES for name in self.dependencies(step)])
        return step_status == states.RUNNING or (step_status in (states.PENDING, states.AWAITING) and is_ready)

    def pending_alternatives(self, run_state: RunState) -> dict[str, str]:
        """By step that has failed, the one that is to stand in for it now."""
        alternatives = {}
        for name in run_state.steps_with_status(states.FAILED):
            step = self.steps[name]
            if (alternative_id := self.alternative_step(step)) and recovery_kind(step, run_state) == STANDS_IN:
                alternatives[name] = alternative_id
        return alternatives

    def skip_reason(self, step: Step, run_state: RunState, path_exists: Callable[[str], bool]) -> str:
        """Why a step does not have its turn now, whatever it needs: its condition, or that nobody needs it; or nothing."""
        owners = self.alternative_owners.get(step.id, ())
        if owners and step.id not in self.pending_alternatives(run_state).values():
            return f"it stands in for {', '.join(owners)}, which has not failed"
        return unmet_condition(step.when, run_state, path_exists)


def named_alternative(step: Step) -> str:
    """The step that a step names to stand in for it, or nothing."""
    strategy = step.on_failure.strategy
    return strategy.removeprefix(ALTERNATIVE) if strategy.startswith(ALTERNATIVE) else ""


def recovery_kind(step: Step, run_state: RunState) -> str:
    """What the last attempt of a step that failed leads to, as recover.py has it; nothing where none has ended."""
    last_attempts = run_state.attempts.get(step.id, [])[-1:]
    performed = last_attempts[0].performed if last_attempts else None
    return choose_recovery(step, performed, run_state.count_tries(step.id)).kind if performed is not None else ""


def effective_status(step: Step, run_state: RunState) -> str:
    """How a step stands: one that failed and is to be tried again is pending."""
    step_status = run_state.status_of[step.id]
    if step_status != states.FAILED:
        return step_status
    end_number = run_state.attempts[step.id][-1].entry if run_state.attempts.get(step.id) else 0
    is_retry_requested = any(
        [
            (entry.fields["step"], entry.fields["answer"]) == (step.id, "again") and entry.number > end_number
            for entry in run_state.answers
        ]
    )
    return states.PENDING if is_retry_requested or recovery_kind(step, run_state) == RETRY else step_status


def unmet_condition(when: When | None, run_state: RunState, path_exists: Callable[[str], bool]) -> str:
    """Why a condition does not hold now, or nothing."""
    return "" if when is None or _is_met(when, run_state, path_exists) else f"{_format_condition(when)} does not hold"


def _is_met(when: When, run_state: RunState, path_exists: Callable[[str], bool]) -> bool:
    if when.kind not in STEP_OUTCOMES:
        path = _path_inside(when.of)
        return (path is not None and path_exists(path)) == (when.kind == "exists")
    step_status = run_state.status_of[when.of]
    if when.kind == "succeeded":
        return step_status in (states.COMPLETED, states.RECOVERED)
    if when.kind == "skipped":
        return step_status == states.SKIPPED
    last_attempts = run_state.attempts.get(when.of, [])[-1:]
    return bool(last_attempts) and last_attempts[0].performed is not None and not last_attempts[0].performed.ok


def _path_inside(path: str) -> str | None:
    from execplan.execution.world import normalize_path

    return normalize_path(path)


def _format_condition(when: When) -> str:
    return f"{when.of}.{when.kind}" if when.kind in STEP_OUTCOMES else f"{when.kind}:{when.of}"
