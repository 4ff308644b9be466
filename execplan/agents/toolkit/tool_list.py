"""The tools that `execplan.agent_tools()` and the MCP server offer, and their form: functions with JSON Schemas."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from execplan.agents.toolkit.command_process import Document, error_document, make_document
from execplan.agents.toolkit.project_tools import ProjectTools
from execplan.context.summary.summarization_request import (
    SummarizationRequest,
    SummaryFormat,
    SummaryLength,
    summarize_markdown,
)
from execplan.core.documents.document_model import Model, document_error, validate_document
from execplan.core.errors import ExecplanError

_Request = TypeVar("_Request", bound=Model)
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", dict: "object"}


class AgentTool(NamedTuple):
    """A tool that an agent framework can offer to a model."""

    name: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema of the arguments: an object that allows no other ones."""
    function: Callable[..., Awaitable[dict[str, Any]]]
    """The async function; its result is an `execplan/1` document, also for errors."""

    async def __call__(self, **arguments: Any) -> dict[str, Any]:
        """Call the function of the tool. Raises TypeError for unknown or missing arguments."""
        for name, value in arguments.items():
            allowed = self.input_schema["properties"].get(name, {}).get("enum")
            if allowed is not None and value is not None and value not in allowed:
                message = f"{name} is not one of {', '.join(allowed)}: {value!r}"
                return error_document(self.name, ExecplanError("usage", message, hint=f"use {allowed[0]}"))
        return await self.function(**arguments)


def make_tool(function: Callable[..., Awaitable[dict[str, Any]]]) -> AgentTool:
    """Return the tool of a typed async function: its docstring is the description."""
    hints = get_type_hints(function, include_extras=True)
    properties, required = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        properties[name] = _type_schema(hints[name])
        if parameter.default is parameter.empty:
            required.append(name)
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return AgentTool(function.__name__, inspect.getdoc(function) or "", schema, function)


def _type_schema(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of an annotation. That an argument may be null is not said: it can be left out."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return {**_type_schema(arguments[0]), "description": arguments[1]}
    if origin in (Union, UnionType):
        return next(_type_schema(argument) for argument in arguments if argument is not NoneType)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Sequence, list, tuple):
        return {"type": "array", "items": _type_schema(arguments[0])}
    return {"type": _JSON_TYPES[origin or hint]}


async def create_execution_plan(
    request: str,
    selected_tools: Annotated[Sequence[str], "in the form domain.tool, in order"],
    context: dict[str, Any] | None = None,
) -> Document:
    """Create an execution plan that calls the selected tools in order."""

    def create() -> Document:
        from execplan.execution.revision.agent_plan_creation import create_execution_plan

        document = create_execution_plan(request, selected_tools, context)
        return {"plan": document.model_dump()}

    return await _run_in_thread("create_execution_plan", create)


async def replan_execution_plan(
    current_plan: dict[str, Any],
    reason: str,
    completed_steps: Annotated[Sequence[int], "numbers"] = (),
    failed_steps: Annotated[Sequence[int], "numbers"] = (),
    new_information: Annotated[dict[str, Any] | None, "`steps` in it replace all unfinished steps"] = None,
) -> Document:
    """Revise an execution plan after a failure; what is completed stays."""

    def replan() -> Document:
        from execplan.execution.revision.document_replanning import ReplanRequest, replan_document

        fields = {
            "current_plan": current_plan,
            "reason": reason,
            "completed_steps": list(completed_steps),
            "failed_steps": list(failed_steps),
            "new_information": new_information,
        }
        return {"plan": replan_document(_validate(ReplanRequest, fields)).model_dump()}

    return await _run_in_thread("replan_execution_plan", replan)


async def summarize_text(
    markdown: str,
    form: SummaryFormat = "summary",
    length: SummaryLength = "brief",
) -> Document:
    """Summarize markdown, such as a plan, in its own words and without secrets."""

    def summarize() -> Document:
        request = _validate(SummarizationRequest, {"markdown": markdown, "form": form, "length": length})
        summary = summarize_markdown(request)
        words, limit = summary.word_count, summary.max_words
        return {"text": summary.text, "form": form, "length": length, "words": words, "limit": limit}

    return await _run_in_thread("summarize_text", summarize)


def _validate(model: type[_Request], fields: dict[str, Any]) -> _Request:
    """Return the request with these fields; raises ExecplanError with everything that is wrong at once."""
    request, violations = validate_document(fields, model)
    if request is None:
        raise document_error("the request", model, violations)
    return request


async def _run_in_thread(name: str, function: Callable[[], Document]) -> Document:
    """Return the document of a function that computes for a while."""
    try:
        return make_document(name, await asyncio.to_thread(function))
    except ExecplanError as error:
        return error_document(name, error)


PROJECT_TOOLS = (
    "status",
    "show",
    "next_task",
    "new_plan",
    "edit_task",
    "record",
    "set_section",
    "lint",
    "context",
    "steps",
    "report_step",
    "replan",
    "summarize",
    "archive",
)
"""Names of the tools on a project's plans, which are those of the MCP server."""


def agent_tools(root: str | os.PathLike[str] = ".") -> list[AgentTool]:
    """Return tools for an agent: those on the plans of the project in a directory, and those that plan by tools.

    They do what an agent may do without a person: none approves, runs or rolls back anything, or changes settings. Each
    is a typed async callable with a JSON Schema; it returns an `execplan/1` document, and raises nothing for an error.
    """
    return [
        *project_tools(root),
        *[
            make_tool(function)
            for function in (
                create_execution_plan,
                replan_execution_plan,
                summarize_text,
            )
        ],
    ]


def project_tools(root: str | os.PathLike[str] = ".") -> list[AgentTool]:
    """Return the tools on the plans of the project in a directory."""
    tools = ProjectTools(root)
    return [make_tool(getattr(tools, name)) for name in PROJECT_TOOLS]
