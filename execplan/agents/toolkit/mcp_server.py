"""The MCP server: the tools on a project's plans, plans and context packs as resources, and prompts, over stdio.

It speaks the protocol of 2026 and the earlier ones, as the SDK does.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from execplan import __version__
from execplan.agents.toolkit.command_process import Document, redact, run_command
from execplan.agents.toolkit.field_names import name_calls
from execplan.agents.toolkit.project_tools import ProjectTools
from execplan.agents.toolkit.tool_list import AgentTool, project_tools
from execplan.core.errors import ExecplanError
from execplan.core.project import builtin_templates
from execplan.library.plan_api import Plan

_INSTRUCTIONS = (
    "Plans are markdown files that you keep up to date while you work: start with next_task or status, read with "
    "context, check off tasks as they are done, and record decisions and discoveries at once. A person approves and "
    "starts the steps of a plan; you can only evaluate them and report their results."
)
_AUTHORING = "# Your task\n\nWrite a plan for the request below: pass its markdown to the tool new_plan, then check it with lint."
_ROOT = {"type": "string", "description": "the project's directory; default: that of the server"}
_READING = frozenset(("status", "show", "lint", "context", "steps", "summarize"))
"""Tools that change nothing; of the others, none destroys anything that `undo` or git can't restore."""
_SCHEME = "execplan://"
_PLANS, _PACKS = f"{_SCHEME}plans/", f"{_SCHEME}packs/"
_TEXT_TYPE = "text/markdown"


class McpServer:
    """The handlers of the server for a default project directory."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)

    def create(self) -> Server[Any]:
        """Return the server with its handlers."""
        return Server(
            "execplan",
            version=__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_resource_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, context: object, params: object) -> types.ListToolsResult:
        """List the tools; each has the project's directory as an additional argument."""
        return types.ListToolsResult(tools=[_describe_tool(tool) for tool in project_tools(self.root)])

    async def _call_tool(self, context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; its document is the structured result, for errors too."""
        arguments = {name: value for name, value in (params.arguments or {}).items() if value is not None}
        root = arguments.pop("root", self.root)
        tools = {tool.name: tool for tool in project_tools(root if isinstance(root, str) else self.root)}
        if params.name not in tools:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name!r}: {', '.join(tools)}")
        tool = tools[params.name]
        if problem := _argument_problem(
            tool.input_schema, {**arguments, **({} if isinstance(root, str) else {"root": root})}
        ):
            raise MCPError(types.INVALID_PARAMS, f"{tool.name}: {problem}")
        return _tool_result(await tool(**arguments))

    async def _list_resources(self, context: object, params: object) -> types.ListResourcesResult:
        """List the plans of the server's project that are not archived."""
        document = await ProjectTools(self.root).status()
        plans = (document["data"] or {}).get("plans", ())
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=_PLANS + quote(plan["id"], safe=""),
                    name=plan["id"],
                    title=plan["title"],
                    description=f"{plan['state']}, {plan['counts']['done']} of {plan['counts']['total']} tasks done",
                    mime_type=_TEXT_TYPE,
                )
                for plan in plans
            ]
        )

    async def _list_resource_templates(self, context: object, params: object) -> types.ListResourceTemplatesResult:
        """List the two kinds of resources: a plan's file, and a context pack for its next task."""
        kinds = ((_PLANS, "plan", "The text of a plan"), (_PACKS, "pack", "What to read for the next task of a plan"))
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=f"{prefix}{{id}}", name=name, description=description, mime_type=_TEXT_TYPE
                )
                for prefix, name, description in kinds
            ]
        )

    async def _read_resource(
        self, context: object, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a plan or a context pack."""
        uri, tools = str(params.uri), ProjectTools(self.root)
        if uri.startswith(_PACKS):
            text = _require_text(await tools.context(unquote(uri.removeprefix(_PACKS))))
        elif uri.startswith(_PLANS):
            text = await asyncio.to_thread(_read_plan, self.root, unquote(uri.removeprefix(_PLANS)))
        else:
            raise MCPError(types.INVALID_PARAMS, f"unknown resource {uri}: use {_PLANS}ID or {_PACKS}ID")
        content = types.TextResourceContents(uri=params.uri, mime_type=_TEXT_TYPE, text=text)
        return types.ReadResourceResult(contents=[content])

    async def _list_prompts(self, context: object, params: object) -> types.ListPromptsResult:
        """List the prompts: to author a plan, and to continue one."""
        request = types.PromptArgument(name="request", description="what to plan", required=True)
        plan = types.PromptArgument(name="plan", description="ID or unique text; default: the only open plan")
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(name="author", description="Write a plan for a request", arguments=[request]),
                types.Prompt(name="continue", description="Continue the work on a plan", arguments=[plan]),
            ]
        )

    async def _get_prompt(self, context: object, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return a prompt: the guide with a request, or the overview of a plan for a new session."""
        arguments = params.arguments or {}
        if params.name == "author" and arguments.get("request"):
            text = f"{builtin_templates.read_text('PLANS.md')}\n\n{_AUTHORING}\n\n{arguments['request']}\n"
        elif params.name == "continue":
            plan = [f"--plan={arguments['plan']}"] if arguments.get("plan") else []
            text = name_calls(_require_text(await run_command(self.root, ["prime", *plan], as_text=True)))
        else:
            raise MCPError(types.INVALID_PARAMS, "use the prompt author with a request, or continue with a plan")
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])


async def serve(root: str) -> None:
    """Serve on standard input and output until the client closes them."""
    server = McpServer(root).create()
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def _describe_tool(tool: AgentTool) -> types.Tool:
    schema = {**tool.input_schema, "properties": {**tool.input_schema["properties"], "root": _ROOT}}
    hints = types.ToolAnnotations(read_only_hint=tool.name in _READING, destructive_hint=False, open_world_hint=False)
    return types.Tool(name=tool.name, description=tool.description, input_schema=schema, annotations=hints)


def _argument_problem(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return what is wrong with the arguments of a tool; empty if nothing is."""
    properties, missing = schema["properties"], [name for name in schema.get("required", ()) if name not in arguments]
    if missing:
        return f"missing argument: {', '.join(missing)}"
    for name, value in arguments.items():
        if name != "root" and name not in properties:
            return f"unknown argument {name!r}: {', '.join((*properties, 'root'))}"
        if not _matches(properties.get(name, _ROOT), value):
            return f"{name} must match {json.dumps(properties.get(name, _ROOT))}"
    return ""


def _matches(schema: Mapping[str, Any], value: object) -> bool:
    """Check whether a value matches one of the schemas that tools have."""
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "array":
        return isinstance(value, list) and all([_matches(schema["items"], item) for item in value])
    return type(value) is {"string": str, "integer": int, "boolean": bool}[schema["type"]]


def _tool_result(document: Document) -> types.CallToolResult:
    """Return the result of a tool: a text for the model, otherwise the document, also in structured form."""
    data = document["data"]
    if document["ok"] and data is not None and set(data) == {"text"}:
        return types.CallToolResult(content=_text_content([data["text"]]))
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    failed = document["error"] is not None
    return types.CallToolResult(content=_text_content([text]), structured_content=document, is_error=failed)


def _text_content(texts: Iterable[str]) -> list[types.ContentBlock]:
    return [types.TextContent(type="text", text=text) for text in texts]


def _read_plan(root: str, name: str) -> str:
    """Return the text of a plan, named by its ID. Raises MCPError if it can't be read."""
    try:
        if "/" in name:
            raise MCPError(types.INVALID_PARAMS, f"{name!r} is not the ID of a plan")
        return redact(Plan.find(name, root).read().text.to_str())
    except ExecplanError as error:
        raise MCPError(types.INVALID_PARAMS, f"{error.message}; {error.hint}") from None


def _require_text(document: Document) -> str:
    """Return the text of a document. Raises MCPError for a document of an error."""
    if document["error"] is not None:
        raise MCPError(types.INVALID_PARAMS, f"{document['error']['message']}; {document['error']['hint']}")
    text: str = document["data"]["text"]
    return text
