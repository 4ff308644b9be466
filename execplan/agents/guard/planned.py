"""What a call is judged by: the steps of the approved plan, and the place that it is made in."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from execplan.execution.world import State


class Planned(NamedTuple):
    """A step that an agent may have been approved to do."""

    step: dict[str, Any]
    """The JSON step of the document as it is."""
    level: str
    """As it was rated."""


class Around(NamedTuple):
    """Where a call is judged."""

    root: str
    """Real path of the repository."""
    constraints: dict[str, Any]
    """Of the document."""
    expected: Mapping[str, State]
    """By path, as `Course.expected`."""
    protected: Callable[[str], str]
    """What says which of git's or the tool's own a path from the root is."""
    before: Callable[[str], bytes | None]
    """The approved bytes of a path before the run."""
