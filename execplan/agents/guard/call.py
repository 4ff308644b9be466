"""A tool call that an agent is about to make, in words that no program's format knows."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

COMMAND: Final = "command"
WRITE: Final = "write"
EDIT: Final = "edit"
DELETE: Final = "delete"
READ: Final = "read"
HARMLESS: Final = "harmless"
"""Changes nothing outside of the program: a list of things to do, a question to its user, another agent that is guarded too."""
TOOL: Final = "tool"
"""Any other, known by its name and what it is given."""
KINDS = (COMMAND, WRITE, EDIT, DELETE, READ, HARMLESS, TOOL)


class FileEdit(NamedTuple):
    """What becomes of a file."""

    path: str
    """As the call has it: absolute, or from the folder that the call is made in."""
    kind: str
    """WRITE, EDIT or DELETE."""
    content: str | None = None
    """Of a file that is written: all of it."""
    replacements: tuple[tuple[str, str, bool], ...] = ()
    """Of one that is edited: old text, new text, and whether every place is meant, each in turn."""
    hunks: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """Of one that a patch without line numbers edits: old lines and new lines of each place, in order."""
    is_at_end: bool = False
    """Whether the last of these places is at the end of the file."""


class ToolCall(NamedTuple):
    """A call."""

    kind: str
    """One of KINDS; of a patch over several files EDIT."""
    tool: str
    """As the program calls it."""
    cwd: str
    """The folder that it is made in: absolute."""
    session: str = ""
    command: str = ""
    """Of a command: the text that a shell gets."""
    in_background: bool = False
    edits: tuple[FileEdit, ...] = ()
    read_paths: tuple[str, ...] = ()
    """The paths that a reading tool names; none: the folder that it is called in."""
    arguments: dict[str, Any] = {}  # noqa: RUF012 - nobody writes to a record
    """All that the tool is given, for what is neither a command nor about files."""


class HookResponse(NamedTuple):
    """What a program is told of a call."""

    kind: str
    """allow, ask or deny, as permission.py has them."""
    reason: str
    step: str = ""
    """The id of the step that it is of; of a denial the nearest one, or nothing."""
    tool: str = ""
    """That is called, as the program calls it."""
