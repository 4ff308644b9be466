"""Tools as values: a typed async function with its name, its description and the JSON Schema of its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

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
