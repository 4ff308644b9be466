"""A tool call that an agent is about to make, independent of the program's format, and the paths that it may name."""

from __future__ import annotations

import os

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Final

_LONGEST = 3 * 4096
"""Maximum length of a path whose characters are all encoded."""
_MAX_FIELDS = 32
"""Maximum number of values that may be parts of a path; of all pairs of more, the check would take too long."""
_MAX_TRIPLE_FIELDS = 8
_WEB_SCHEMES = ("http", "https", "ws", "wss", "mailto", "data")
_MAX_PATH_CHARS = 4096
"""Maximum length of a path in characters on Linux."""


class UnclearPathsError(Exception):
    """Arguments may name more paths than can be checked; the message says why."""


def possible_paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that a tool's arguments may name. Raises UnclearPathsError for too many combinations."""
    fields: dict[str, None] = {}
    elements: dict[str, None] = {}
    joined: list[str] = []
    pending: list[object] = [arguments]
    for value in pending:  # the list grows in the loop
        if isinstance(value, dict):
            elements |= dict.fromkeys(_decoded_texts(list(value)))
            fields |= dict.fromkeys(_decoded_texts(list(value.values())))
            pending += value.values()
        elif isinstance(value, (list, tuple)):
            texts = [text for text in value if isinstance(text, str)]
            elements |= dict.fromkeys(_decoded_texts(texts))
            if len(texts) == len(value) > 1 and len(texts) <= _MAX_FIELDS:
                joined.append("/".join([text.strip() for text in texts]))
            pending += value
    if len(fields) > _MAX_FIELDS:
        raise UnclearPathsError(f"it has more than {_MAX_FIELDS} parameters that may be parts of a path")
    parts = [*fields, *[element for element in elements if element not in fields]]
    yield from parts
    yield from _decoded_texts(joined)
    for base in fields:
        yield from [os.path.join(base, part) for part in parts if part != base and not _is_absolute(part)]
        if len(fields) <= _MAX_TRIPLE_FIELDS:
            yield from [
                os.path.join(base, middle, part)
                for middle in fields
                for part in fields
                if len({base, middle, part}) == 3 and not _is_absolute(middle) and not _is_absolute(part)
            ]


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~"))


def _decoded_texts(values: list[Any]) -> Iterator[str]:
    """Yield the paths that texts may be: without white space around them, decoded, and as the path of a URI."""
    for value in values:
        if not isinstance(value, str) or len(value) > _LONGEST:
            continue
        text = value.strip()
        if not text or "\n" in text or "\0" in text or text.partition(":")[0].casefold() in _WEB_SCHEMES:
            continue
        for form in dict.fromkeys((text, _decode(text), _decode(text).replace("\\", "/"))):
            yield form
            scheme, colon, rest = form.partition(":")
            if colon and scheme.isalnum() and len(scheme) > 1 and "/" in rest:
                yield f"/{rest[2:].partition('/')[2]}" if rest.startswith("//") else rest
            if "$" in form:
                yield os.path.expandvars(form)


def _decode(text: str) -> str:
    """Decode `%2e` and the like until nothing is encoded."""
    from urllib.parse import unquote

    for _ in range(4):
        if "%" not in text:
            break
        text = unquote(text)
    return text


class NotUnderstoodError(Exception):
    """A call has content that its format does not define: it is denied with this message."""


def ensure_known_fields(arguments: Mapping[str, Any], known_fields: str, tool: str) -> None:
    """Raise NotUnderstoodError for fields other than the known ones, which are separated by spaces."""
    for name in arguments:
        if name not in known_fields.split():
            raise NotUnderstoodError(f"{tool} has the field {name!r}, whose effect is unknown")


def required_object(payload: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a required object. Raises NotUnderstoodError if it is missing."""
    value: dict[str, Any] = _required_value(payload, name, dict, "an object")
    return value


def required_text(payload: Mapping[str, Any], name: str) -> str:
    """Return a required text. Raises NotUnderstoodError if it is missing."""
    value: str = _required_value(payload, name, str, "text")
    return value


def required_path(payload: Mapping[str, Any], name: str) -> str:
    """Return a required path. Raises NotUnderstoodError if it is missing or invalid."""
    value = required_text(payload, name)
    if not value or "\0" in value or len(value) > _MAX_PATH_CHARS:
        raise NotUnderstoodError(f"{name} is not a path")
    return value


def optional_paths(payload: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """Return the paths of those fields that are present."""
    return tuple([required_path(payload, name) for name in names if payload.get(name) is not None])


def optional_text(payload: Mapping[str, Any], name: str) -> str:
    """Return an optional text, empty if it is missing."""
    return "" if payload.get(name) is None else required_text(payload, name)


def optional_flag(payload: Mapping[str, Any], name: str) -> bool:
    """Return an optional boolean, false if it is missing."""
    return payload.get(name) is not None and _required_value(payload, name, bool, "true or false")


def required_cwd(payload: Mapping[str, Any]) -> str:
    """Return the absolute path of the call's working directory."""
    cwd = required_path(payload, "cwd")
    if not cwd.startswith("/"):
        raise NotUnderstoodError("cwd is not an absolute path")
    return cwd


def chosen_directory(arguments: Mapping[str, Any], name: str, cwd: str) -> str:
    """Return the directory that a field names for a command, and the given one without it. Raises NotUnderstoodError."""
    directories = optional_paths(arguments, name)
    if directories and ".." in directories[0].split("/"):
        raise NotUnderstoodError(f"{name} contains `..`: use an absolute path")
    return os.path.join(cwd, *directories)


def pattern_paths(pattern: str, folders: Sequence[str]) -> tuple[str, ...]:
    """Return what a search for names reads: the directories, and the pattern if it leaves them.

    Raises NotUnderstoodError for a pattern that may leave them when its braces are expanded.
    """
    has_brace_dots = any([mark in pattern for mark in (".{", "}.")]) and any([mark in pattern for mark in ("{.", ",.")])
    if "{" in pattern and (has_brace_dots or any([mark in pattern for mark in ("..", "{/", ",/", "{~", ",~")])):
        raise NotUnderstoodError("its pattern may lead outside the directory")
    leaves_directory = pattern.startswith(("/", "~")) or ".." in pattern.split("/")
    return (*folders, pattern) if leaves_directory else tuple(folders)


def content_paths(folder: str, pattern: str) -> tuple[str, ...]:
    """Return what a search for content reads: the directory, and its files that match a list of patterns, if any.

    Patterns that only exclude files limit nothing.
    """
    if all([part.startswith("!") for part in pattern.replace(",", " ").split()]):
        return (folder,)
    return (folder, f"{folder}/{{{pattern.replace(' ', ',')}}}")


def _required_value(payload: Mapping[str, Any], name: str, kind: type, expected: str) -> Any:
    value = payload.get(name)
    if not isinstance(value, kind):
        raise NotUnderstoodError(f"{name} is missing" if name not in payload else f"{name} is not {expected}")
    return value


class StepComparison(NamedTuple):
    """The result of comparing a call with a step."""

    reason: str = ""
    """Reason why the call does not match the step; empty if it does."""
    similarity: int = 0
    """Similarity of the call to the step, from 0 to 100."""
    is_further: bool = False
    """Whether the step's `allow` permits the call in addition to the step's own calls."""


EXACT_MATCH = StepComparison(similarity=100)
ALLOWED_EXTRA = StepComparison(similarity=100, is_further=True)


COMMAND: Final = "command"
WRITE: Final = "write"
EDIT: Final = "edit"
DELETE: Final = "delete"
READ: Final = "read"
HARMLESS: Final = "harmless"
"""Call that changes nothing outside the program: a to-do list, a question to its user, another guarded agent."""
TOOL: Final = "tool"
"""Call of any other tool, identified by its name and arguments."""
KINDS = (COMMAND, WRITE, EDIT, DELETE, READ, HARMLESS, TOOL)


class FileEdit(NamedTuple):
    """A change of a file by a call."""

    path: str
    """Path as in the call: absolute, or relative to the call's working directory."""
    kind: str
    """WRITE, EDIT or DELETE."""
    content: str | None = None
    """Complete content of a file that is written."""
    replacements: tuple[tuple[str, str, bool], ...] = ()
    """Replacements in a file that is edited, in order: old text, new text, and whether all occurrences are replaced."""
    hunks: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """Hunks of a patch without line numbers, in order: old lines and new lines."""
    is_at_end: bool = False
    """Whether the last hunk is at the end of the file."""


class ToolCall(NamedTuple):
    """A tool call that an agent is about to make."""

    kind: str
    """One of KINDS; EDIT for a patch of several files."""
    tool: str
    """Name of the tool in the program."""
    cwd: str
    """Absolute path of the working directory."""
    session: str = ""
    command: str = ""
    """Text of a command, as a shell gets it."""
    in_background: bool = False
    edits: tuple[FileEdit, ...] = ()
    read_paths: tuple[str, ...] = ()
    """Paths that a reading tool names; if there are none, it reads the working directory.

    Another tool has such paths if it does nothing else than read them.
    """
    searches_content: bool = False
    """Whether a reading tool shows the content of the files below the directories that it names."""
    arguments: dict[str, Any] = {}  # noqa: RUF012 - nobody writes to a record
    """All arguments of a tool that neither runs a command nor changes files."""
    call_id: str = ""
    """ID of the call in the program, or empty."""


class HookResponse(NamedTuple):
    """The response that a program gets for a call."""

    kind: str
    """`allow`, `ask` or `deny`, as defined in permission.py."""
    reason: str
    step: str = ""
    """ID of the step that the call belongs to; for a denial, the nearest step or empty."""
    tool: str = ""
    """Name of the called tool in the program."""


class HookOutput(NamedTuple):
    """The output of the guard's process: what it prints, and its exit status."""

    output: bytes
    error_output: bytes = b""
    status: int = 0


DENIED_STATUS: Final = 2
"""Exit status of a denied call, which blocks it even if something else is printed around the denial."""


def hook_denial(output: str, reason: str) -> HookOutput:
    """Return a denial for a program that reads standard output, or only the exit status and standard error."""
    return HookOutput(
        output.encode() + b"\n", f"{reason or 'denied'}\n".encode("utf-8", "backslashreplace"), DENIED_STATUS
    )


def parse_hook_input(payload: Mapping[str, Any], event: str) -> ToolCall:
    """Parse what a program tells a hook of any call; its kind is TOOL. Raises NotUnderstoodError."""
    if payload.get("hook_event_name") != event:
        raise NotUnderstoodError(f"the event is not {event}")
    tool, arguments = required_text(payload, "tool_name"), required_object(payload, "tool_input")
    session, call_id = optional_text(payload, "session_id"), optional_text(payload, "tool_use_id")
    return ToolCall(TOOL, tool, required_cwd(payload), session, arguments=arguments, call_id=call_id)
