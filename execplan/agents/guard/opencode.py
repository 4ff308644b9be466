"""The format in which the guard's plugin for opencode passes on a tool call, and reads the answer."""

from __future__ import annotations

from execplan.agents.guard import tool_call
from execplan.agents.guard.tool_call import COMMAND, EDIT, HARMLESS, READ, WRITE, FileEdit, HookOutput, ToolCall
from execplan.core.text import fast_json
from execplan.execution.permission import ALLOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    from execplan.agents.guard.tool_call import HookResponse

EVENT: Final = "tool.execute.before"
HARMLESS_TOOLS: Final = frozenset("invalid plan_exit question skill task todoread todowrite".split())
"""Tools that change only the program's own notes, show a skill, or start another agent, whose calls come here as well."""
_SERVER: Final = "execplan"
"""Name of the server of `execplan mcp`, which is before an underscore in the names of its tools."""


def can_ask(payload: Mapping[str, Any]) -> bool:
    """Return false: a plugin can't ask the program's user."""
    return False


def made_call(payload: Mapping[str, Any]) -> None:
    """Return None: the plugin asks about calls, and has none to report because none was asked about."""


def read(payload: Mapping[str, Any]) -> ToolCall:
    """Parse the call that the plugin passes on. Raises NotUnderstoodError."""
    call = tool_call.parse_hook_input(payload, EVENT)
    parser = _PARSERS.get(call.tool)
    if parser is not None:
        return parser(call, call.arguments)
    server, separator, name = call.tool.partition("_")
    if separator and server == _SERVER:
        return call._replace(tool=f"mcp__{server}__{name}")
    return call._replace(kind=HARMLESS) if call.tool in HARMLESS_TOOLS else call


def answer(response: HookResponse) -> HookOutput:
    """Return the document for the plugin, which lets a call through only if it says so."""
    output = fast_json.write({"decision": response.kind})
    if response.kind == ALLOW:
        return HookOutput(f"{output}\n".encode())
    return tool_call.hook_denial(output, response.reason)


def _parse_bash(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "command description timeout workdir", call.tool)
    cwd = tool_call.chosen_directory(arguments, "workdir", call.cwd)
    return call._replace(kind=COMMAND, cwd=cwd, command=tool_call.required_text(arguments, "command"))


def _parse_write(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "filePath content", call.tool)
    path, content = tool_call.required_path(arguments, "filePath"), tool_call.required_text(arguments, "content")
    return call._replace(kind=WRITE, edits=(FileEdit(path, WRITE, content=content),))


def _parse_edit(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "filePath oldString newString replaceAll", call.tool)
    replacement = (
        tool_call.required_text(arguments, "oldString"),
        tool_call.required_text(arguments, "newString"),
        tool_call.optional_flag(arguments, "replaceAll"),
    )
    edit = FileEdit(tool_call.required_path(arguments, "filePath"), EDIT, replacements=(replacement,))
    return call._replace(kind=EDIT, edits=(edit,))


def _parse_read(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "filePath offset limit", call.tool)
    return call._replace(kind=READ, read_paths=(tool_call.required_path(arguments, "filePath"),))


def _parse_glob(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "pattern path", call.tool)
    pattern, folders = tool_call.required_path(arguments, "pattern"), tool_call.optional_paths(arguments, "path")
    return call._replace(kind=READ, read_paths=tool_call.pattern_paths(pattern, folders))


def _parse_grep(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "pattern path include", call.tool)
    folder = (tool_call.optional_paths(arguments, "path") or (call.cwd,))[0]
    paths = tool_call.content_paths(folder, tool_call.optional_text(arguments, "include"))
    return call._replace(kind=READ, read_paths=paths, searches_content=True)


_PARSERS: Final[Mapping[str, Callable[[ToolCall, Mapping[str, Any]], ToolCall]]] = {
    "bash": _parse_bash,
    "write": _parse_write,
    "edit": _parse_edit,
    "read": _parse_read,
    "glob": _parse_glob,
    "grep": _parse_grep,
}
"""Parsers by tool name, for tools whose fields are all known."""
