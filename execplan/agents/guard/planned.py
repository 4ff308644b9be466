"""What a call is judged by: the steps that are planned, and where it is made."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from execplan.execution.world import State


class PlannedStep(NamedTuple):
    """A step."""

    step: dict[str, Any]
    """The JSON step of the document as it is."""
    level: str
    """Its risk, as it was rated."""


class GuardScope(NamedTuple):
    """Where a call is judged."""

    root: str
    """The real path of the repository."""
    constraints: dict[str, Any]
    """Of the document."""
    expected: Mapping[str, State]
    """By path from the root, as `Course.expected`."""
    protected: Callable[[str], str]
    """What of git's or the tool's own a path from the root is, in words; nothing for any other."""
    read_expected: Callable[[str], bytes | None]
    """The bytes of a path, from the Store, as `expected` has it: approved, or as an earlier step has left it."""
