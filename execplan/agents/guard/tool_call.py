"""A tool call that an agent is about to make, in words that no program's format knows."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final


_MAX_PATH_CHARS = 4096
"""Characters of the longest path, as Linux has it."""


class NotUnderstoodError(Exception):
    """A call that says what no format knows: it is denied, with these words."""


def ensure_known_fields(arguments: Mapping[str, Any], known_fields: str, tool: str) -> None:
    """Refuse fields beside the known ones, which are named with spaces between."""
    for name in arguments:
        if name not in known_fields.split():
            raise NotUnderstoodError(f"{tool} is given {name!r}, and what that changes is not known here")


def required_object(payload: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object that must be there."""
    value: dict[str, Any] = _required_value(payload, name, dict, "an object")
    return value


def required_text(payload: Mapping[str, Any], name: str) -> str:
    """Text that must be there."""
    value: str = _required_value(payload, name, str, "text")
    return value


def required_path(payload: Mapping[str, Any], name: str) -> str:
    """A path that must be there."""
    value = required_text(payload, name)
    if not value or "\0" in value or len(value) > _MAX_PATH_CHARS:
        raise NotUnderstoodError(f"{name} is no path")
    return value


def optional_paths(payload: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """The paths that are there."""
    return tuple([required_path(payload, name) for name in names if payload.get(name) is not None])


def optional_text(payload: Mapping[str, Any], name: str) -> str:
    """Text, nothing where there is none."""
    return "" if payload.get(name) is None else required_text(payload, name)


def optional_flag(payload: Mapping[str, Any], name: str) -> bool:
    """True or false, false where nothing is said."""
    return payload.get(name) is not None and _required_value(payload, name, bool, "true or false")


def required_cwd(payload: Mapping[str, Any]) -> str:
    """The folder in which a call is made."""
    cwd = required_path(payload, "cwd")
    if not cwd.startswith("/"):
        raise NotUnderstoodError("cwd is no absolute path")
    return cwd


def _required_value(payload: Mapping[str, Any], name: str, kind: type, expected: str) -> Any:
    value = payload.get(name)
    if not isinstance(value, kind):
        raise NotUnderstoodError(f"{name} is missing" if name not in payload else f"{name} is not {expected}")
    return value


class StepComparison(NamedTuple):
    """Whether it is of the step, or how near it comes."""

    reason: str = ""
    """Why it is not of the step; nothing: it is."""
    similarity: int = 0
    """How like the step it is, from 0 to 100."""
    is_further: bool = False
    """Whether the call is not the step's own, but one that its `allow` permits besides."""


EXACT_MATCH = StepComparison(similarity=100)
ALLOWED_EXTRA = StepComparison(similarity=100, is_further=True)


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
