"""What a check is, what it finds, and the table in which every check stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.lint.rule import ERROR, WARNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.repo.amend import Options
    from execplan.view.doctor.ground import Ground

__all__ = ["CHECKS", "ERROR", "WARNING", "Check", "Finding", "Fix", "check"]


class Fix(NamedTuple):
    """What `--fix` does."""

    would: str
    """What it is about to do, in words."""
    make: Callable[[Options], list[str]]
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
    mend: str
    """A command or an edit."""
    line: int = 0
    fix: Fix | None = None


if TYPE_CHECKING:
    Looking = Callable[[Ground], Iterator[Finding | str]]


class Check(NamedTuple):
    """A check as it is registered."""

    name: str
    look: Looking
    """Yields findings, and words that say more about what was looked at."""
    anywhere: bool
    """Whether it can be made where the settings can't be read."""

    @property
    def sentence(self) -> str:
        """What holds when it finds nothing."""
        return (self.look.__doc__ or "").split("\n", 1)[0].rstrip(".")


CHECKS: dict[str, Check] = {}
"""Every check by its name."""


def check(name: str, *, anywhere: bool = False) -> Callable[[Looking], Looking]:
    """Register a function as a check; the first sentence of its docstring is what it says when nothing is wrong."""

    def register(look: Looking) -> Looking:
        CHECKS[name] = Check(name, look, anywhere)
        return look

    return register
