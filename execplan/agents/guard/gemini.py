"""Gemini CLI's hook format: the input and output of its BeforeTool hooks."""

from __future__ import annotations

from execplan.agents.guard import tool_call
from execplan.agents.guard.tool_call import COMMAND, EDIT, HARMLESS, READ, WRITE, FileEdit, HookOutput, ToolCall
from execplan.core.text import fast_json
from execplan.execution.permission import ALLOW, DENY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    from execplan.agents.guard.tool_call import HookResponse

EVENT: Final = "BeforeTool"
HARMLESS_TOOLS: Final = frozenset(
    "activate_skill ask_user complete_task enter_plan_mode exit_plan_mode get_internal_docs list_background_processes "
    "list_mcp_resources read_background_output update_topic write_todos".split()
)
"""Tools that change only the program's own notes, or show what it has.

`invoke_agent` is not among them: the agents that it starts may be on other machines, where no hook runs.
"""
_IGNORED: Final = "wait_for_previous"
"""Argument of every tool that only orders the calls of an answer."""


def can_ask(payload: Mapping[str, Any]) -> bool:
    """Return false: the program doesn't report which calls were made after a question."""
    return False


def made_call(payload: Mapping[str, Any]) -> None:
    """Return None: the program asks about calls, and has none to report because none was asked about."""


def read(payload: Mapping[str, Any]) -> ToolCall:
    """Parse the call in a hook's input. Raises NotUnderstoodError."""
    call = tool_call.parse_hook_input(payload, EVENT)
    arguments = {name: value for name, value in call.arguments.items() if name != _IGNORED}
    call = call._replace(arguments=arguments)
    if payload.get("mcp_context") is not None:
        context = tool_call.required_object(payload, "mcp_context")
        server, name = [tool_call.required_text(context, field) for field in ("server_name", "tool_name")]
        return call._replace(tool=f"mcp__{server}__{name}")
    parser = _PARSERS.get(call.tool)
    if parser is not None:
        return parser(call, arguments)
    return call._replace(kind=HARMLESS) if call.tool in HARMLESS_TOOLS else call


def answer(response: HookResponse) -> HookOutput:
    """Return the hook's output. An empty object lets the call through, so only an allowed call gets it."""
    if response.kind == ALLOW:
        return HookOutput(b"{}\n")
    reason = response.reason or "denied"
    return tool_call.hook_denial(fast_json.write({"decision": DENY, "reason": reason}), reason)


def _parse_command(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "command description dir_path is_background delay_ms", call.tool)
    return call._replace(
        kind=COMMAND,
        cwd=tool_call.chosen_directory(arguments, "dir_path", call.cwd),
        command=tool_call.required_text(arguments, "command"),
        in_background=tool_call.optional_flag(arguments, "is_background"),
    )


def _parse_write(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "file_path content", call.tool)
    path, content = tool_call.required_path(arguments, "file_path"), tool_call.required_text(arguments, "content")
    return call._replace(kind=WRITE, edits=(FileEdit(path, WRITE, content=content),))


def _parse_replace(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "file_path instruction old_string new_string allow_multiple", call.tool)
    replacement = (
        tool_call.required_text(arguments, "old_string"),
        tool_call.required_text(arguments, "new_string"),
        tool_call.optional_flag(arguments, "allow_multiple"),
    )
    edit = FileEdit(tool_call.required_path(arguments, "file_path"), EDIT, replacements=(replacement,))
    return call._replace(kind=EDIT, edits=(edit,))


def _parse_read(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "file_path start_line end_line", call.tool)
    return call._replace(kind=READ, read_paths=(tool_call.required_path(arguments, "file_path"),))


def _parse_list(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "dir_path ignore file_filtering_options", call.tool)
    return call._replace(kind=READ, read_paths=tool_call.optional_paths(arguments, "dir_path"))


def _parse_glob(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(
        arguments, "pattern dir_path case_sensitive respect_git_ignore respect_gemini_ignore", call.tool
    )
    pattern, folders = tool_call.required_path(arguments, "pattern"), tool_call.optional_paths(arguments, "dir_path")
    return call._replace(kind=READ, read_paths=tool_call.pattern_paths(pattern, folders))


def _parse_grep(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, _GREP_FIELDS, call.tool)
    folders, pattern = (
        tool_call.optional_paths(arguments, "dir_path"),
        tool_call.optional_text(arguments, "include_pattern"),
    )
    paths = tool_call.content_paths((folders or (call.cwd,))[0], pattern)
    return call._replace(kind=READ, read_paths=paths, searches_content=True)


_GREP_FIELDS: Final = (
    "pattern dir_path include_pattern exclude_pattern names_only max_matches_per_file total_max_matches"
)
_PARSERS: Final[Mapping[str, Callable[[ToolCall, Mapping[str, Any]], ToolCall]]] = {
    "run_shell_command": _parse_command,
    "write_file": _parse_write,
    "replace": _parse_replace,
    "read_file": _parse_read,
    "list_directory": _parse_list,
    "glob": _parse_glob,
    "grep_search": _parse_grep,
}
"""Parsers by tool name, for tools whose fields are all known."""
