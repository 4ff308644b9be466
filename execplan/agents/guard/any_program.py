"""Hook format for any other program: one JSON object as input, execplan's own JSON document as output."""

from __future__ import annotations

from execplan.agents.guard import tool_call
from execplan.agents.guard.tool_call import COMMAND, DELETE, EDIT, READ, TOOL, WRITE, FileEdit, HookOutput, ToolCall
from execplan.core.text import fast_json
from execplan.execution.permission import DENY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from execplan.agents.guard.tool_call import HookResponse

_COMMON_FIELDS: Final = "tool cwd session id"
_FIELDS: Final = {
    COMMAND: "command background",
    WRITE: "path content",
    EDIT: "path old new all",
    DELETE: "path",
    READ: "path",
    TOOL: "name parameters",
}


def can_ask(payload: Mapping[str, Any]) -> bool:
    """Return true: the program asks its user, and reports afterward that the call was made."""
    return True


def made_call(payload: Mapping[str, Any]) -> str | None:
    """Return the ID of a call that the program reports as made; None if it asks about one."""
    return tool_call.required_text(payload, "made") if "made" in payload else None


def read(payload: Mapping[str, Any]) -> ToolCall:
    """Parse the call in a hook's input. Raises NotUnderstoodError."""
    kind = tool_call.required_text(payload, "tool")
    if kind not in _FIELDS:
        raise tool_call.NotUnderstoodError(f"tool must be one of {', '.join(_FIELDS)}")
    tool_call.ensure_known_fields(payload, f"{_COMMON_FIELDS} {_FIELDS[kind]}", kind)
    name = tool_call.required_text(payload, "name") if kind == TOOL else kind
    session, call_id = tool_call.optional_text(payload, "session"), tool_call.optional_text(payload, "id")
    call = ToolCall(kind, name, tool_call.required_cwd(payload), session, call_id=call_id)
    if kind == COMMAND:
        return call._replace(
            command=tool_call.required_text(payload, "command"),
            in_background=tool_call.optional_flag(payload, "background"),
        )
    if kind == TOOL:
        return call._replace(
            arguments=tool_call.required_object(payload, "parameters") if "parameters" in payload else {}
        )
    if kind == READ:
        return call._replace(read_paths=tool_call.optional_paths(payload, "path"))
    return call._replace(edits=(_parse_edit(kind, payload),))


def answer(response: HookResponse) -> HookOutput:
    """Return the JSON document; the exit status is 0 because there is an answer."""
    is_denied = response.kind == DENY
    data = {
        "decision": response.kind,
        "why": response.reason,
        "step": None if is_denied else response.step or None,
        "nearest": response.step or None if is_denied else None,
    }
    output = {
        "schema": "execplan/1",
        "kind": "guard",
        "ok": True,
        "data": data,
        "error": None,
        "warnings": [],
        "next": [],
    }
    return HookOutput(fast_json.write(output, has_spaces=True).encode() + b"\n")


def _parse_edit(kind: str, payload: Mapping[str, Any]) -> FileEdit:
    name = tool_call.required_path(payload, "path")
    if kind == WRITE:
        return FileEdit(name, kind, content=tool_call.required_text(payload, "content"))
    if kind == EDIT:
        return FileEdit(
            name,
            kind,
            replacements=(
                (
                    tool_call.required_text(payload, "old"),
                    tool_call.required_text(payload, "new"),
                    tool_call.optional_flag(payload, "all"),
                ),
            ),
        )
    return FileEdit(name, kind)
