"""The form of Codex: what its PreToolUse hooks send, and what they take."""

from __future__ import annotations

from execplan.agents.guard import patch_text, taking
from execplan.agents.guard.call import COMMAND, EDIT, HARMLESS, READ, TOOL, ToolCall
from execplan.agents.guard.claude import EVENT
from execplan.execution.permission import ALLOW, DENY
from execplan.text import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from execplan.agents.guard.call import HookResponse

ASKS: Final = False
"""It can't: an answer `ask` is no answer to it, and the call goes through."""
HARMLESS_TOOLS: Final = frozenset(
    "close_agent list_mcp_resources request_user_input send_input spawn_agent update_plan wait wait_agent".split()
)
"""Other agents among them, who are asked about each of their calls too."""
_COMMAND_FIELDS: Final = {"Bash": "command", "exec_command": "cmd", "shell_command": "command"}
_IGNORED_FIELDS: Final = "workdir timeout_ms yield_time_ms max_output_tokens justification"
"""What a command may be given beside itself; a shell, a terminal or a way out of the sandbox are none of these."""


def read(payload: Mapping[str, Any]) -> ToolCall:
    """The call that a hook is sent; raises NotUnderstoodError."""
    if payload.get("hook_event_name") != EVENT:
        raise taking.NotUnderstoodError(f"the event is not {EVENT}")
    tool, arguments = taking.required_text(payload, "tool_name"), taking.required_object(payload, "tool_input")
    call = ToolCall(TOOL, tool, taking.required_cwd(payload), taking.optional_text(payload, "session_id"), arguments=arguments)
    if tool in _COMMAND_FIELDS:
        return _parse_command(call, arguments, _COMMAND_FIELDS[tool])
    if tool == "apply_patch":
        return _parse_patch_call(call, arguments)
    if tool == "view_image":
        taking.ensure_known_fields(arguments, "path", tool)
        return call._replace(kind=READ, read_paths=(taking.required_path(arguments, "path"),))
    return call._replace(kind=HARMLESS) if tool in HARMLESS_TOOLS else call


def answer(response: HookResponse) -> tuple[bytes, int]:
    """What the hook prints, and its exit status: nothing lets a call through, and so must only be said of one that may."""
    if response.kind == ALLOW:
        return b"", 0
    output = {"hookEventName": EVENT, "permissionDecision": DENY, "permissionDecisionReason": response.reason or "denied"}
    return plain_json.write({"hookSpecificOutput": output}).encode() + b"\n", 0


def _parse_command(call: ToolCall, arguments: Mapping[str, Any], name: str) -> ToolCall:
    taking.ensure_known_fields(arguments, f"{name} {_IGNORED_FIELDS}", call.tool)
    workdirs = taking.optional_paths(arguments, "workdir")
    if workdirs and ".." in workdirs[0].split("/"):
        raise taking.NotUnderstoodError("workdir goes up: name the folder by its absolute path")
    cwd = call.cwd if not workdirs else workdirs[0] if workdirs[0].startswith("/") else f"{call.cwd}/{workdirs[0]}"
    return call._replace(kind=COMMAND, cwd=cwd, command=taking.required_text(arguments, name))


def _parse_patch_call(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    taking.ensure_known_fields(arguments, "command", call.tool)
    edits = patch_text.parse_patch(taking.required_text(arguments, "command"))
    return call._replace(kind=edits[0].kind if len(edits) == 1 else EDIT, edits=edits)
