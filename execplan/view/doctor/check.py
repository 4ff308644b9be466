"""What a check is, what it finds, and the table in which every check stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.lint.rule import ERROR, WARNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.repo.amend import WriteOptions
    from execplan.view.doctor.ground import DoctorContext

__all__ = ["CHECKS", "ERROR", "WARNING", "Check", "Finding", "Fix", "check"]


class Fix(NamedTuple):
    """What `--fix` does."""

    description: str
    """What it is about to do, in words."""
    apply: Callable[[WriteOptions], list[str]]
    """Does it and says what it did; raises ExecplanError."""
    diff: str = ""
    """How it changes a plan."""


class Finding(NamedTuple):
    """One thing that is wrong."""

    level: str
    """`error`: a plan, an edit or the tool itself is in danger or out of reach; `warning`: something was left lying."""
    path: str
    """From the root of the repository, or empty."""
    message: str
    remedy: str
    """A command or an edit."""
    line: int = 0
    fix: Fix | None = None


if TYPE_CHECKING:
    CheckFunction = Callable[[DoctorContext], Iterator[Finding | str]]


class Check(NamedTuple):
    """A check as it is registered."""

    name: str
    find_problems: CheckFunction
    """Yields findings, and words that say more about what was looked at."""
    works_without_settings: bool
    """Whether it can be made where the settings can't be read."""

    @property
    def sentence(self) -> str:
        """What holds when it finds nothing."""
        return (self.find_problems.__doc__ or "").split("\n", 1)[0].rstrip(".")


CHECKS: dict[str, Check] = {}
"""Every check by its name."""


def check(name: str, *, works_without_settings: bool = False) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as a check; the first sentence of its docstring is what it says when nothing is wrong."""

    def register(find_problems: CheckFunction) -> CheckFunction:
        CHECKS[name] = Check(name, find_problems, works_without_settings)
        return find_problems

    return register
