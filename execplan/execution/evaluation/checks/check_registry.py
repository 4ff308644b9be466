"""What a check of `evaluate` is, what it finds, and the table in which every check stands."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

    from execplan.execution.evaluation.trial import Trial
    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.execution.world import World

ERROR: Final = "error"
WARNING: Final = "warning"


class Finding(NamedTuple):
    """One thing that is wrong."""

    level: str
    """`error`: it must not run; `warning`: whoever approves it should know."""
    message: str
    fix: str = ""
    """An edit or a command."""
    step: Step | None = None
    """None: it is about the whole."""
    check: str = ""
    """The name of the check, which is filled in."""


class CheckContext(NamedTuple):
    """What the checks look at."""

    document: ExecutionPlan
    trials: tuple[Trial, ...]
    """Of the steps that are still to be done."""
    policy: Policy
    world: World


if TYPE_CHECKING:
    CheckFunction = Callable[[CheckContext], Iterator[Finding]]


class Check(NamedTuple):
    """A check as it is registered."""

    name: str
    run: CheckFunction

    @property
    def sentence(self) -> str:
        """What holds when it finds nothing."""
        return (self.run.__doc__ or "").split("\n", 1)[0].rstrip(".")


CHECKS: dict[str, Check] = {}
"""Every check by its name; `every` fills it."""


def check(name: str) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as a check; the first sentence of its docstring is what holds when it finds nothing."""

    def register(function: CheckFunction) -> CheckFunction:
        CHECKS[name] = Check(name, function)
        return function

    return register
