"""Tools of `execplan mcp`: an agent may call one if it may use the command that the tool runs.

The guard knows only the name of a server, so the user's settings decide that the server named `execplan` is this one.
"""

from __future__ import annotations

from execplan.agents.guard.execplan_calls import denial_reason
from execplan.agents.guard.execplan_commands import ALLOWED_COMMANDS, NAME, shorten
from execplan.core.named_tuple import NamedTuple
from execplan.execution.shell.call_patterns import dotted_tool_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.agents.guard.tool_call import ToolCall

_SERVERS: Final = (NAME, f"plugin_{NAME}_{NAME}")
"""Names of the server: as the documentation adds it, and in the plugin of Claude Code."""
_RESOURCE_TOOLS: Final = ("read_mcp_resource", "ReadMcpResourceTool")
"""Tools of Codex and Claude Code that read a resource of a server."""
_CHECKED_ARGUMENTS: Final = ("root", "plan", "agent", "commit")
"""Arguments that are checked like `-C`, `--plan`, `--as` and `--commit` of the command."""


class _McpTool(NamedTuple):
    """A tool of the server."""

    commands: Mapping[str, str]
    """Its commands by the value of the argument that selects one; of a missing argument, the value is empty."""
    arguments: str = ""
    """Its arguments that can do no more than the command: texts, and options that agents may use."""
    selector: str = ""
    """Name of the argument that selects the command."""


_TOOLS: Final[Mapping[str, _McpTool]] = {
    "status": _McpTool({"": "status"}, "state"),
    "show": _McpTool({"": "show"}, "section"),
    "next_task": _McpTool({"": "next"}, "claim"),
    "new_plan": _McpTool({"": "new"}, "title purpose tasks template markdown"),
    "edit_task": _McpTool(
        {**{name: name for name in ("add", "done", "reopen", "reword", "split")}, "verify": "done"},
        "task text remaining",
        "action",
    ),
    "record": _McpTool(
        {
            "decision": "decide",
            "discovery": "discover",
            "outcome": "outcome",
            "note": "note",
            "revision": "revise",
        },
        "text detail",
        "kind",
    ),
    "set_section": _McpTool({"": "set"}, "section text create"),
    "lint": _McpTool({"": "lint"}),
    "context": _McpTool({"": "context"}, "task budget"),
    "steps": _McpTool({"": "handoff", "instructions": "handoff", "evaluation": "evaluate"}, "", "view"),
    "report_step": _McpTool({"": "report"}, "step status result evidence"),
    "replan": _McpTool({"": "replan"}, "reason failed"),
    "summarize": _McpTool({"": "summarize"}, "form length"),
    "archive": _McpTool({"": "archive"}, "ended reason superseded_by"),
}


def is_own_tool(call: ToolCall) -> bool:
    """Check whether a tool belongs to this program: one of its MCP server, or any other that has its name."""
    return NAME in call.tool.casefold() or (call.tool in _RESOURCE_TOOLS and call.arguments.get("server") in _SERVERS)


def tool_denial_reason(call: ToolCall, scope: GuardScope) -> str:
    """Return why an agent may not call a tool of this program; empty if it may."""
    arguments = {name: value for name, value in call.arguments.items() if value is not None}
    if call.tool in _RESOURCE_TOOLS:
        is_known = arguments.keys() == {"server", "uri"} and str(arguments["uri"]).startswith(f"{NAME}://")
        return "" if is_known else f"agents can only read the plans and context packs of {NAME}"
    server, _, name = (dotted_tool_name(call.tool) or call.tool).partition(".")
    if server not in _SERVERS or name not in _TOOLS:
        return f"{shorten(call.tool)} is none of the tools of `{NAME} mcp`"
    tool = _TOOLS[name]
    known_arguments = (*_CHECKED_ARGUMENTS, *tool.arguments.split(), tool.selector)
    if unknown_arguments := [argument for argument in arguments if argument not in known_arguments]:
        return f"{name} has the argument {shorten(unknown_arguments[0])!r}, whose effect is unknown"
    command = tool.commands.get(str(arguments.get(tool.selector, "")))
    if command is None:
        return f"{name} has no such {tool.selector}: use {', '.join(filter(None, tool.commands))}"
    return _command_denial_reason(command, arguments, call.cwd, scope)


def _command_denial_reason(command: str, arguments: Mapping[str, Any], cwd: str, scope: GuardScope) -> str:
    """Return why an agent may not use a command with the checked arguments; empty if it may."""
    root, plan, agent, commit = [arguments.get(name) for name in _CHECKED_ARGUMENTS]
    if root not in (None, ".") and not (isinstance(root, str) and root.startswith("/")):
        return "root must be an absolute path, because the server may run in another directory"
    if commit not in (None, False, True):
        return "commit must be true or false"
    if agent and "--as" not in ALLOWED_COMMANDS[command].value_options.split():
        return f"agents can't choose in whose name `{NAME} {command}` writes: leave out agent"
    directory = cwd if root in (None, ".") else str(root)
    if denial_reason([NAME, "-C", directory], scope, (cwd,)):
        return f"root leads outside the repository: {shorten(directory)}"
    argv = [NAME, "-C", directory, command, *(("--commit",) if commit else ())]
    argv += [f"{option}={value}" for option, value in (("--plan", plan), ("--as", agent)) if value]
    return denial_reason(argv, scope, (cwd,))
