"""Codex's hook format: the input and output of its PreToolUse hooks."""

from __future__ import annotations

from execplan.agents.guard import tool_call
from execplan.agents.guard.claude import EVENT
from execplan.agents.guard.codex_transcript import command_directory
from execplan.agents.guard.tool_call import (
    COMMAND,
    DELETE,
    EDIT,
    HARMLESS,
    READ,
    WRITE,
    FileEdit,
    HookOutput,
    NotUnderstoodError,
    ToolCall,
    required_path,
)
from execplan.core.text import fast_json
from execplan.execution.permission import ALLOW, DENY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

    from execplan.agents.guard.tool_call import HookResponse

    Hunk = tuple[tuple[str, ...], tuple[str, ...]]


_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE, _DELETE, _MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_END_OF_FILE = "*** End of File"
_MARKS = (_ADD, _UPDATE, _DELETE, _MOVE, _END_OF_FILE, _END, "@@")


def parse_patch(patch: str) -> tuple[FileEdit, ...]:
    """Parse a patch into the edits of its files. Raises NotUnderstoodError if it is ambiguous."""
    if "\r" in patch:
        raise NotUnderstoodError(
            "a line of the patch contains a carriage return, which may count as part of its line end"
        )
    lines = patch.strip("\n").split("\n")
    if any([line != line.strip() and line.strip().startswith(_MARKS) for line in lines]):
        raise NotUnderstoodError("a line of the patch is ambiguous: a marker with white space around it")
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END or _BEGIN in lines[1:] or _END in lines[:-1]:
        raise NotUnderstoodError("it is not a patch")
    edits: list[FileEdit] = []
    index, end_index = 1, len(lines) - 1
    while index < end_index:
        end = index + 1
        while end < end_index and not lines[end].startswith((_ADD, _UPDATE, _DELETE)):
            end += 1
        edits += _parse_file(lines[index], lines[index + 1 : end])
        index = end
    return tuple(edits)


def _parse_file(header: str, body: Sequence[str]) -> list[FileEdit]:
    for mark, parse in ((_ADD, _parse_added), (_UPDATE, _parse_updated), (_DELETE, _parse_deleted)):
        if header.startswith(mark):
            return parse(required_path({"the path of a patch": header[len(mark) :]}, "the path of a patch"), body)
    raise NotUnderstoodError("a line of the patch belongs to no file")


def _parse_added(name: str, body: Sequence[str]) -> list[FileEdit]:
    if not all([line.startswith("+") for line in body]):
        raise NotUnderstoodError("a line of a new file doesn't begin with +")
    return [FileEdit(name, WRITE, content="".join([f"{line[1:]}\n" for line in body]))]


def _parse_deleted(name: str, body: Sequence[str]) -> list[FileEdit]:
    if body:
        raise NotUnderstoodError("the deletion of a file is followed by other lines")
    return [FileEdit(name, DELETE)]


def _parse_updated(name: str, body: Sequence[str]) -> list[FileEdit]:
    is_move = bool(body) and body[0].startswith(_MOVE)
    hunks = _parse_hunks(body[is_move:])
    is_at_end = _END_OF_FILE in body
    if is_at_end and body[-1] != _END_OF_FILE:
        raise NotUnderstoodError("the end of a file is followed by other lines")
    if body[is_move : is_move + 1] and not body[is_move].strip():
        raise NotUnderstoodError("a hunk begins with an empty line, which may or may not count")
    if is_move:
        target = required_path({"the path of a patch": body[0][len(_MOVE) :]}, "the path of a patch")
        return [FileEdit(name, DELETE), FileEdit(target, WRITE)]  # its new content is unknown
    if not hunks:
        raise NotUnderstoodError("the patch changes a file, but has no hunk for it")
    return [FileEdit(name, EDIT, hunks=tuple(hunks), is_at_end=is_at_end)]


def _parse_hunks(body: Sequence[str]) -> list[Hunk]:
    """Parse the hunks, each with its old and new lines."""
    hunks: list[tuple[list[str], list[str]]] = []
    for line in body:
        if line.startswith("@@"):
            if line != "@@":  # the named line may occur twice
                raise NotUnderstoodError("a hunk is located by a line above it: identify it by its own lines")
            hunks.append(([], []))
        elif line != _END_OF_FILE:
            hunks = hunks or [([], [])]
            _add_line(line, *hunks[-1])
    if not all([old for old, _ in hunks]):
        raise NotUnderstoodError("the patch adds lines, but doesn't state where")
    return [(tuple(old), tuple(new)) for old, new in hunks]


def _add_line(line: str, old: list[str], new: list[str]) -> None:
    """Add a line to the old lines, the new lines or both; an empty line belongs to both."""
    if line[:1] not in ("", " ", "-", "+"):
        raise NotUnderstoodError("a line of the patch doesn't begin with a space, + or -")
    if line[:1] != "+":
        old.append(line[1:])
    if line[:1] != "-":
        new.append(line[1:])


_AGENT_TOOLS: Final = "close_agent followup_task interrupt_agent list_agents resume_agent send_input send_message spawn_agent wait wait_agent"
HARMLESS_TOOLS: Final = frozenset(
    [
        *"create_goal get_goal list_mcp_resource_templates list_mcp_resources request_user_input tool_search".split(),
        *"update_goal update_plan".split(),
        *[f"{space}{name}" for space in ("", "collaboration", "multi_agent_v1") for name in _AGENT_TOOLS.split()],
    ]
)
"""Tools that change nothing themselves; calls of other agents are also checked by the guard.

The program writes the namespace of a tool and its name as one word.
"""
_COMMAND_FIELDS: Final = {"exec_command": "cmd", "shell_command": "command"}
_IGNORED_FIELDS: Final = "workdir timeout_ms yield_time_ms max_output_tokens justification"
"""Fields that a command may have besides its text, but not a shell, a terminal or an exit from the sandbox."""


def can_ask(payload: Mapping[str, Any]) -> bool:
    """Return false: the program ignores the answer `ask`, and the call goes through."""
    return False


def made_call(payload: Mapping[str, Any]) -> None:
    """Return None: the program asks about calls, and has none to report because none was asked about."""


def read(payload: Mapping[str, Any]) -> ToolCall:
    """Parse the call in a hook's input. Raises NotUnderstoodError."""
    call = tool_call.parse_hook_input(payload, EVENT)
    tool, arguments = call.tool, call.arguments
    if tool == "Bash":
        tool_call.ensure_known_fields(arguments, "command", tool)
        command = tool_call.required_text(arguments, "command")
        return call._replace(kind=COMMAND, command=command, cwd=command_directory(payload, command, call.cwd))
    if tool in _COMMAND_FIELDS:
        return _parse_command(call, arguments, _COMMAND_FIELDS[tool])
    if tool == "apply_patch":
        return _parse_patch_call(call, arguments)
    if tool == "view_image":
        tool_call.ensure_known_fields(arguments, "path", tool)
        return call._replace(kind=READ, read_paths=(tool_call.required_path(arguments, "path"),))
    return call._replace(kind=HARMLESS) if tool in HARMLESS_TOOLS else call


def answer(response: HookResponse) -> HookOutput:
    """Return the hook's output. An empty object lets the call through, so only an allowed call gets it."""
    if response.kind == ALLOW:
        return HookOutput(b"{}\n")
    fields = {
        "hookEventName": EVENT,
        "permissionDecision": DENY,
        "permissionDecisionReason": response.reason or "denied",
    }
    return tool_call.hook_denial(fast_json.write({"hookSpecificOutput": fields}), response.reason)


def _parse_command(call: ToolCall, arguments: Mapping[str, Any], name: str) -> ToolCall:
    tool_call.ensure_known_fields(arguments, f"{name} {_IGNORED_FIELDS}", call.tool)
    cwd = tool_call.chosen_directory(arguments, "workdir", call.cwd)
    return call._replace(kind=COMMAND, cwd=cwd, command=tool_call.required_text(arguments, name))


def _parse_patch_call(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "command", call.tool)
    edits = parse_patch(tool_call.required_text(arguments, "command"))
    return call._replace(kind=edits[0].kind if len(edits) == 1 else EDIT, edits=edits)
