"""What came of the work of a step, before anything of it is checked."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.launch import CommandResult
    from execplan.engine.entries import Change

ERROR = "error"
"""The cause of what could not be done at all."""


class ActionResult(NamedTuple):
    """The end of a program, or of writing files."""

    cause: str = ""
    reason: str = ""
    ended: CommandResult | None = None
    """Of a program."""
    changes: tuple[Change, ...] = ()
    """Of files that the step writes itself; what a program changes is seen by looking."""
    folders: tuple[str, ...] = ()
