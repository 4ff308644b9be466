"""Registry of the checks of `evaluate`, and the findings that they report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

    from execplan.execution.evaluation.trial import Trial
    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.execution.world import World

ERROR: Final = "error"
WARNING: Final = "warning"


class EvaluationFinding(NamedTuple):
    """A problem that a check found."""

    level: str
    """Severity: `error` blocks the run; `warning` is information for the approver."""
    message: str
    fix: str = ""
    """Suggested fix: an edit or a command."""
    step: Step | None = None
    """Step with the problem, or None if it concerns the whole plan."""
    check: str = ""
    """Name of the check, filled in by the evaluation."""


class CheckContext(NamedTuple):
    """Input for the checks of an execution plan."""

    document: ExecutionPlan
    trials: tuple[Trial, ...]
    """Trials of the steps that are not finished."""
    policy: Policy
    world: World


if TYPE_CHECKING:
    CheckFunction = Callable[[CheckContext], Iterator[EvaluationFinding]]


class EvaluationCheck(NamedTuple):
    """A registered check of `evaluate`."""

    name: str
    run: CheckFunction

    @property
    def sentence(self) -> str:
        """Statement that is true if the check finds nothing."""
        return (self.run.__doc__ or "").split("\n", 1)[0].rstrip(".")


REGISTERED: dict[str, EvaluationCheck] = {}
"""Registered checks by name; the decorator `check` fills the table."""


def check(name: str) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as a check; the first line of its docstring states what is true if it finds nothing."""

    def register(function: CheckFunction) -> CheckFunction:
        REGISTERED[name] = EvaluationCheck(name, function)
        return function

    return register
