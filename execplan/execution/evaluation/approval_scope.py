"""Scope of an approval: which steps it covers, which the policy approves, which wait, and what can't be approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.suggestions import closest_names
from execplan.execution import rare_features
from execplan.execution.attributes import LEVELS
from execplan.execution.binding import bound_paths
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.world import OUTSIDE, normalize_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.execution.evaluate import EvaluatedStep, Evaluation
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.world import World


class UncoveredStep(NamedTuple):
    """A step that may not run, with the reason."""

    evaluated: EvaluatedStep
    why: str


class ApprovalScope(NamedTuple):
    """The steps of a plan, sorted by how they are approved."""

    covered: tuple[EvaluatedStep, ...]
    by_policy: tuple[EvaluatedStep, ...]
    """Steps that the policy approves, independent of the approval."""
    uncovered: tuple[UncoveredStep, ...]
    """Steps that would remain unapproved."""
    finished: tuple[EvaluatedStep, ...] = ()
    """Steps that an active run has finished; no approval covers them."""

    @property
    def manual_steps(self) -> tuple[EvaluatedStep, ...]:
        """Covered steps that need a person's approval."""
        return tuple([step for step in self.covered if step.needs_person])

    @property
    def inferred_steps(self) -> tuple[EvaluatedStep, ...]:
        """Covered steps that were inferred from the plan."""
        return tuple([step for step in self.covered if step.step.inferred])


def expand_step_id(ids: Iterable[str], name: str) -> set[str]:
    """Return the step IDs that come from a code block with several commands, given the ID of the code block."""
    return {step_id for step_id in ids if step_id.startswith(f"{name}.") and step_id[len(name) + 1 :].isdecimal()}


def approval_scope(evaluation: Evaluation, max_risk: str | None, steps: tuple[str, ...] | None) -> ApprovalScope:
    """Sort the steps of a plan by how they are approved. Raises ExecplanError if a step ID is unknown."""
    step_ids = [step.step.id for step in evaluation.steps]
    selected_ids: set[str] = set()
    for name in steps or ():
        matched_ids = {name} if name in step_ids else expand_step_id(step_ids, name)
        selected_ids |= matched_ids
        if not matched_ids:
            matches = closest_names(name, step_ids) or step_ids
            message = f"unknown step {name!r}"
            raise ExecplanError("no-such-step", message, hint="use one of these", candidates=matches)
    covered, uncovered = [], []
    remaining = [step for step in evaluation.steps if not step.is_done]
    for step in remaining:
        if steps is not None and step.step.id not in selected_ids:
            why = "not among the specified steps"
        elif max_risk is not None and LEVELS.index(step.risk.level) > LEVELS.index(max_risk):
            why = f"its risk {step.risk.level} is above {max_risk}"
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
    """Yield paths that no approval may cover, whatever checks are enabled.

    These are paths outside the repository, and Git's or ExecPlan's own.
    """
    found_document = features.load(rare_features.FOUND_FILES)(document, world) if document.finds_files else document
    for step in found_document.steps:
        written = written_paths(step.model_dump())
        for path in dict.fromkeys([*bound_paths(step), *written, step.cwd]):
            normalized = normalize_path(path)
            if normalized is None or world.state(normalized).kind == OUTSIDE:
                yield f"{step.id}: {path} leads outside the repository"
            elif path in written and (protected_as := world.protected(normalized)):
                yield f"{step.id}: {path} is {protected_as}"
