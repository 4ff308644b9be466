"""Which steps an approval would cover, which the policy approves by itself, and which wait; and what nobody may approve."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.execution.attributes import LEVELS
from execplan.execution.binding import bound_paths
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.world import OUTSIDE, normalize_path
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.execution.evaluate import EvaluatedStep, Evaluation
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.world import World


class UncoveredStep(NamedTuple):
    """A step that may not run."""

    evaluated: EvaluatedStep
    why: str


class ApprovalScope(NamedTuple):
    """What becomes of each step."""

    covered: tuple[EvaluatedStep, ...]
    by_policy: tuple[EvaluatedStep, ...]
    """Those that the policy approves, whatever else is said."""
    uncovered: tuple[UncoveredStep, ...]
    """Those that nobody has approved then."""
    finished: tuple[EvaluatedStep, ...] = ()
    """Those that a run which is under way has done: no approval covers them."""

    @property
    def manual_steps(self) -> tuple[EvaluatedStep, ...]:
        """The steps that are covered and that a person has to answer for."""
        return tuple([step for step in self.covered if step.needs_person])

    @property
    def inferred_steps(self) -> tuple[EvaluatedStep, ...]:
        """Those of them that the plan does not say in so many words."""
        return tuple([step for step in self.covered if step.step.inferred])


def expand_step_id(ids: Iterable[str], name: str) -> set[str]:
    """The ids of the steps that a fence with several commands gives, by its own id."""
    return {step_id for step_id in ids if step_id.startswith(f"{name}.") and step_id[len(name) + 1 :].isdecimal()}


def approval_scope(evaluation: Evaluation, max_risk: str | None, steps: tuple[str, ...] | None) -> ApprovalScope:
    """Sort the steps of a plan; raises ExecplanError for an id that is none."""
    step_ids = [step.step.id for step in evaluation.steps]
    selected_ids: set[str] = set()
    for name in steps or ():
        matched_ids = {name} if name in step_ids else expand_step_id(step_ids, name)
        selected_ids |= matched_ids
        if not matched_ids:
            from difflib import get_close_matches

            matches = get_close_matches(name, step_ids, n=3, cutoff=0.4) or step_ids
            message = f"there is no step {name!r}"
            raise ExecplanError("no-such-step", message, exit=INPUT, hint="name one of these", candidates=matches)
    covered, uncovered = [], []
    remaining = [step for step in evaluation.steps if not step.is_done]
    for step in remaining:
        if steps is not None and step.step.id not in selected_ids:
            why = "not among the steps that are named"
        elif max_risk is not None and LEVELS.index(step.risk.level) > LEVELS.index(max_risk):
            why = f"{step.risk.level} is above {max_risk}"
        else:
            covered.append(step)
            continue
        if step.needs_person:
            uncovered.append(UncoveredStep(step, why))
    by_policy = tuple([step for step in remaining if not step.needs_person])
    return ApprovalScope(
        tuple(covered), by_policy, tuple(uncovered), tuple([step for step in evaluation.steps if step.is_done])
    )


def find_forbidden_paths(document: ExecutionPlan, world: World) -> Iterator[str]:
    """What no approval may cover, whichever checks are on: paths that lead out of the repository, git's and our own."""
    for step in document.steps:
        written = written_paths(step.model_dump(mode="json"))
        for path in dict.fromkeys([*bound_paths(step), *written, step.cwd]):
            normalized = normalize_path(path)
            if normalized is None or world.state(normalized).kind == OUTSIDE:
                yield f"{step.id}: {path} leads out of the repository"
            elif path in written and (protected_as := world.protected(normalized)):
                yield f"{step.id}: {path} is {protected_as}"
