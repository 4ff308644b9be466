"""The Responses form, which Codex speaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.clients.model_server import Reply, Request, Say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.model_server import Action

PATH = "/responses"
_COMPACTION = "CONTEXT CHECKPOINT COMPACTION"
"""How Codex begins the request for a summary."""
_NAMESPACE_END = "."
"""What is between a server's namespace and the name of a tool in the names of tools here."""
_FULL_CONTEXT_TOKENS = 300_000


def parse_request(body: dict[str, Any]) -> Request:
    """Parse a request."""
    items = [item for item in body["input"] if isinstance(item, dict)]
    results = tuple([(item["call_id"], _text_of(item["output"])) for item in items if "output" in item])
    texts = [
        str(body.get("instructions") or ""),
        *[_text_of(item.get("content") or item.get("output")) for item in items],
    ]
    last_text = texts[-1]
    tools = [name for offer in (body, *items) for tool in offer.get("tools") or () for name in _tool_names(tool)]
    return Request("\n".join(texts), results, tuple(tools or ["code mode"]), _COMPACTION in last_text)


def format_reply(reply: Reply, number: int, first_call: int) -> Iterator[dict[str, Any]]:
    """Yield the events of an answer."""
    response = f"response-{number}"
    yield {"type": "response.created", "response": {"id": response}}
    for index, action in enumerate(reply.actions):
        item = {"id": f"item-{number}-{index}", **_item(action, first_call)}
        first_call += not isinstance(action, Say)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    tokens = _FULL_CONTEXT_TOKENS if reply.fills_context else 10
    usage = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    yield {"type": "response.completed", "response": {"id": response, "usage": usage}}


def _item(action: Action, call: int) -> dict[str, Any]:
    if isinstance(action, Say):
        return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": action.text}]}
    server, separator, tool = action.name.rpartition(_NAMESPACE_END)
    name_fields = {"namespace": server, "name": tool} if separator else {"name": action.name}
    call_fields = {**name_fields, "call_id": f"call-{call}"}
    if action.name == "tool_search":
        return {
            "type": "tool_search_call",
            "call_id": f"call-{call}",
            "execution": "client",
            "arguments": action.arguments,
        }
    if isinstance(action.arguments, str):
        return {"type": "custom_tool_call", **call_fields, "input": action.arguments}
    return {"type": "function_call", **call_fields, "arguments": json.dumps(action.arguments)}


def _tool_names(tool: dict[str, Any]) -> list[str]:
    """Return the names of a tool, or of the tools of a server, which a search for tools adds to those of a request."""
    if tool["type"] != "namespace":
        return [str(tool.get("name") or tool["type"])]
    return [f"{tool['name']}{_NAMESPACE_END}{member['name']}" for member in tool["tools"]]


def _text_of(content: Any) -> str:
    """Return the text of a content, which is a text or a list of parts."""
    if isinstance(content, list):
        return "\n".join([str(part.get("text", "")) for part in content if isinstance(part, dict)])
    return str(content or "")
