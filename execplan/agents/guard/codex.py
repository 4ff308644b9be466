"""The form of Codex: what its PreToolUse hooks send, and what they take."""

from __future__ import annotations

from execplan.agents.guard import patch_text, taking
from execplan.agents.guard.call import COMMAND, EDIT, HARMLESS, READ, TOOL, Call
from execplan.agents.guard.claude import EVENT
from execplan.execution.permission import ALLOW, DENY
from execplan.text import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from execplan.agents.guard.call import Decision

ASKS: Final = False
"""It can't: an answer `ask` is no answer to it, and the call goes through."""
HARMLESS_TOOLS: Final = frozenset(
    "close_agent list_mcp_resources request_user_input send_input spawn_agent update_plan wait wait_agent".split()
)
"""Other agents among them, who are asked about each of their calls too."""
_COMMANDS: Final = {"Bash": "command", "exec_command": "cmd", "shell_command": "command"}
_TAKEN: Final = "workdir timeout_ms yield_time_ms max_output_tokens justification"
"""What a command may be given beside itself; a shell, a terminal or a way out of the sandbox are none of these."""


def read(said: Mapping[str, Any]) -> Call:
    """The call that a hook is sent; raises NotUnderstoodError."""
    if said.get("hook_event_name") != EVENT:
        raise taking.NotUnderstoodError(f"the event is not {EVENT}")
    tool, given = taking.text(said, "tool_name"), taking.table(said, "tool_input")
    bare = Call(TOOL, tool, taking.folder(said), taking.maybe(said, "session_id"), given=given)
    if tool in _COMMANDS:
        return _command(bare, given, _COMMANDS[tool])
    if tool == "apply_patch":
        return _patch(bare, given)
    if tool == "view_image":
        taking.only(given, "path", tool)
        return bare._replace(kind=READ, reads=(taking.path(given, "path"),))
    return bare._replace(kind=HARMLESS) if tool in HARMLESS_TOOLS else bare


def answer(decision: Decision) -> tuple[bytes, int]:
    """What the hook prints, and its exit status: nothing lets a call through, and so must only be said of one that may."""
    if decision.kind == ALLOW:
        return b"", 0
    told = {"hookEventName": EVENT, "permissionDecision": DENY, "permissionDecisionReason": decision.why or "denied"}
    return plain_json.write({"hookSpecificOutput": told}).encode() + b"\n", 0


def _command(call: Call, given: Mapping[str, Any], name: str) -> Call:
    taking.only(given, f"{name} {_TAKEN}", call.tool)
    folder = taking.paths(given, "workdir")
    cwd = call.cwd if not folder else folder[0] if folder[0].startswith("/") else f"{call.cwd}/{folder[0]}"
    return call._replace(kind=COMMAND, cwd=cwd, command=taking.text(given, name))


def _patch(call: Call, given: Mapping[str, Any]) -> Call:
    taking.only(given, "command", call.tool)
    found = patch_text.edits(taking.text(given, "command"))
    return call._replace(kind=found[0].kind if len(found) == 1 else EDIT, edits=found)
