"""The evaluation of a plan as things stand: what `evaluate` prints, and `approve` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.execution.binding import bind
from execplan.execution.evaluate import evaluate
from execplan.repo.execution.current import current
from execplan.repo.execution.policy import effective
from execplan.repo.execution.world import Glance
from execplan.text.lines import digest

if TYPE_CHECKING:
    from execplan.execution.binding import Binding
    from execplan.execution.evaluate import Evaluation, ActiveRun
    from execplan.execution.policy import Policy
    from execplan.repo.execution.current import Current
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


class Evaluated(NamedTuple):
    """All that is known before a plan runs."""

    current: Current
    policy: Policy
    evaluation: Evaluation
    binding: Binding
    """What an approval would bind now."""
    path: str
    """Where the steps stand: the plan, or the document where they come from no plan; from the root."""
    underway: ActiveRun | None = None
    """The run that goes on with this very document, if there is one."""


def evaluated(home: Project, ref: PlanRef, underway: ActiveRun | None = None) -> Evaluated:
    """Evaluate a plan, given the last run of it that may go on; nothing is written. Raises ExecplanError."""
    found = current(home, ref)
    if underway is not None and underway.document != digest(found.data):
        underway = None
    policy, world = effective(home), Glance(home)
    evaluation = evaluate(found.document, world, policy, underway)
    binding = bind(found.data, found.document, world, policy)
    path = home.display_path(ref.path) if found.document.source is not None else found.path
    return Evaluated(found, policy, evaluation, binding, path, underway)
