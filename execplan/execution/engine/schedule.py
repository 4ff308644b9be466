"""Schedule of a run: from its state, which steps may begin now, and which are skipped, recovered or blocked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.pure_paths import do_overlap
from execplan.execution import states
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.engine.journal.journal_entries import BLOCKED, RECOVERED, SKIPPED
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.step_order import StepOrder, unmet_condition
from execplan.execution.execution_plan import PROGRAM_TYPES, ExecutionPlan, Step, Type
from execplan.execution.world import normalize_path


class StepTransition(NamedTuple):
    """A change of status to record for a step that does not run."""

    kind: str
    """SKIPPED, BLOCKED or RECOVERED, as in journal_entries.py."""
    step: str
    detail: str
    """The reason, or the ID of the alternative that ran instead."""


class NextSteps(NamedTuple):
    """The next actions of a run. With transitions no step begins, because more transitions may follow from them."""

    transitions: tuple[StepTransition, ...] = ()
    begin: tuple[Step, ...] = ()


class Schedule:
    """The order of a run's chosen steps; the state of the run is passed to each method."""

    def __init__(
        self, document: ExecutionPlan, chosen: Collection[str] | None, path_exists: Callable[[str], bool]
    ) -> None:
        """Create a schedule; `chosen` defaults to all steps. `path_exists` returns whether a path exists."""
        self.steps = document.steps
        self.steps_by_id = {step.id: step for step in self.steps}
        self.order = StepOrder(self.steps, chosen, sequential=document.constraints.require_sequential)
        self.chosen = self.order.chosen
        self.path_exists = path_exists
        self._writes = {step.id: frozenset(_plain_paths(_written_paths(step))) for step in self.steps}
        self._reads = {step.id: frozenset(_plain_paths(step.inputs)) for step in self.steps}

    def find_next_steps(
        self, run_state: RunState, alternatives: Mapping[str, str], running: Collection[str], jobs: int
    ) -> NextSteps:
        """Return the next actions; `alternatives` maps failed steps to the alternatives that are to run instead."""
        transitions = [
            *self._skip_unchosen(run_state),
            *self._recover_steps(run_state, alternatives),
            *self._skip_unneeded_alternatives(run_state, alternatives),
        ]
        if transitions:
            return NextSteps(tuple(transitions))
        begin: list[Step] = []
        for step in [
            candidate for candidate in self._candidates(run_state, alternatives) if candidate.id not in running
        ]:
            is_parallel = jobs > 1 and can_run_in_parallel(step)
            busy_ids = [*running, *[chosen_step.id for chosen_step in begin]]
            if busy_ids and not (is_parallel and len(busy_ids) < jobs and self._can_join(step, busy_ids)):
                if is_parallel:
                    continue
                break
            if reason := self.skip_reason(step, run_state):
                if not begin:
                    return NextSteps((StepTransition(SKIPPED, step.id, reason),), ())
                return NextSteps((), tuple(begin))
            begin.append(step)
            if not is_parallel:
                break
        return NextSteps((), tuple(begin))

    def skip_reason(self, step: Step, run_state: RunState) -> str:
        """Return why the condition of a step is not met now, or an empty string."""
        return unmet_condition(step.when, run_state, self.path_exists)

    def blocked_steps(self, run_state: RunState, failed: str = "") -> list[StepTransition]:
        """Return the steps to block because they depend, directly or not, on the step `failed`; by default, on any that failed."""
        failed_ids = [failed] if failed else run_state.steps_with_status(states.FAILED)
        failed_causes = {name: name for name in failed_ids}
        transitions = []
        for step in self.steps:
            cause = next((failed_causes[name] for name in step.depends_on if name in failed_causes), "")
            if cause and run_state.status_of[step.id] in (states.PENDING, states.AWAITING):
                failed_causes[step.id] = cause
                transitions.append(StepTransition(BLOCKED, step.id, f"it needs {cause}, which failed"))
        return transitions

    def unchosen_dependencies(self, done_before: Collection[str] = ()) -> list[str]:
        """Return the dependencies of chosen steps that are neither chosen nor done before, one per line."""
        return [
            f"{step.id} needs {name}, which is not selected; it is assumed to be done"
            for step in self.steps
            if step.id in self.chosen
            for name in step.depends_on
            if name not in self.chosen and name not in done_before
        ]

    def alternative_owners(self, name: str) -> list[str]:
        """Return the chosen steps that a step is the alternative of. An alternative never runs on its own."""
        return self.order.alternative_owners.get(name, [])

    def _skip_unchosen(self, run_state: RunState) -> list[StepTransition]:
        unchosen_ids = [step.id for step in self.steps if step.id not in self.chosen]
        return [
            StepTransition(SKIPPED, name, states.NOT_SELECTED)
            for name in unchosen_ids
            if run_state.status_of[name] == states.PENDING
        ]

    def _recover_steps(self, run_state: RunState, alternatives: Mapping[str, str]) -> list[StepTransition]:
        success_statuses = (states.COMPLETED, states.RECOVERED)
        ready = [
            (name, alternative_id)
            for name, alternative_id in alternatives.items()
            if run_state.status_of[alternative_id] in success_statuses
        ]
        return [
            StepTransition(RECOVERED, name, alternative_id)
            for name, alternative_id in ready
            if run_state.status_of[name] == states.FAILED
        ]

    def _skip_unneeded_alternatives(self, run_state: RunState, alternatives: Mapping[str, str]) -> list[StepTransition]:
        """Skip alternatives that no step needs any more."""
        unneeded = [
            (name, owners)
            for name, owners in self.order.alternative_owners.items()
            if run_state.status_of[name] == states.PENDING
            and all([run_state.status_of[owner] in states.SUCCESS_STATES for owner in owners])
        ]
        return [
            StepTransition(SKIPPED, name, f"it is the alternative to {', '.join(owners)} and is not needed")
            for name, owners in unneeded
        ]

    def _candidates(self, run_state: RunState, alternatives: Mapping[str, str]) -> list[Step]:
        """Return the pending steps that are ready, in order. An alternative has the turn of the step it replaces."""
        turns = {
            alternative_id: self.steps_by_id[name].number
            for name, alternative_id in reversed(list(alternatives.items()))
        }
        candidates = [
            step
            for step in self.steps
            if run_state.status_of[step.id] == states.PENDING
            and (step.id in turns or step.id not in self.order.alternative_owners)
            and all([run_state.status_of[name] in states.SUCCESS_STATES for name in self.order.dependencies(step)])
        ]
        return sorted(candidates, key=lambda step: (turns.get(step.id, step.number), step.number))

    def _can_join(self, step: Step, busy_ids: list[str]) -> bool:
        """Return whether a step may run in parallel with all of these: no written path is shared with another step."""
        return all(
            [can_run_in_parallel(self.steps_by_id[name]) and not self._shares_paths(step.id, name) for name in busy_ids]
        )

    def _shares_paths(self, step_id: str, other_id: str) -> bool:
        writes = _overlap(self._writes[step_id], self._writes[other_id])
        return (
            writes
            or _overlap(self._writes[step_id], self._reads[other_id])
            or _overlap(self._reads[step_id], self._writes[other_id])
        )


def can_run_in_parallel(step: Step) -> bool:
    """Return whether a step may run in parallel at all: its changes are declared, and it needs no confirmation."""
    has_known_changes = step.type not in PROGRAM_TYPES or bool(step.outputs)
    return step.parallel and has_known_changes and not step.confirm


def _written_paths(step: Step) -> list[str]:
    """Return the paths that a step declares to write, including the environment of an installation."""
    return [
        *written_paths(step.model_dump()),
        *_environment_paths(step),
    ]


def _environment_paths(step: Step) -> list[str]:
    return [step.target] if step.type is Type.INSTALL and step.target is not None else []


def _plain_paths(paths: Collection[str]) -> list[str]:
    return [path for path in map(normalize_path, paths) if path is not None]


def _overlap(paths: Collection[str], other_paths: Collection[str]) -> bool:
    """Return whether a path of one collection equals, contains, or is inside a path of the other."""
    return any([do_overlap(path, other_path) for path in paths for other_path in other_paths])
