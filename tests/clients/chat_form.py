"""The Chat Completions form, which opencode and many other programs speak."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.clients.model_server import Reply, Request, Say

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "/chat/completions"
_COMPACTION = "Create a new anchored summary from the conversation history"
"""A part of the request with which opencode asks for a summary."""
_FULL_CONTEXT_TOKENS = 199_000


def parse_request(body: dict[str, Any]) -> Request:
    """Parse a request."""
    messages = body["messages"]
    results = [(entry["tool_call_id"], _text_of(entry["content"])) for entry in messages if entry["role"] == "tool"]
    texts = [_text_of(message.get("content")) for message in messages]
    functions = [tool["function"] for tool in body.get("tools") or ()]
    read = "\n".join([*[str(function.get("description")) for function in functions], *texts])
    return Request(
        read, tuple(results), tuple([str(function["name"]) for function in functions]), _COMPACTION in texts[-1]
    )


def format_reply(reply: Reply, number: int, first_call: int) -> Iterator[dict[str, Any]]:
    """Yield the events of an answer."""
    chunk = {"id": f"chunk-{number}", "object": "chat.completion.chunk", "created": number, "model": "fake"}
    call_count = 0
    for action in reply.actions:
        if isinstance(action, Say):
            delta: dict[str, Any] = {"role": "assistant", "content": action.text}
        else:
            function = {"name": action.name, "arguments": json.dumps(action.arguments)}
            call = {"index": call_count, "id": f"call-{first_call + call_count}", "type": "function"}
            delta, call_count = {"role": "assistant", "tool_calls": [{**call, "function": function}]}, call_count + 1
        yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    tokens = _FULL_CONTEXT_TOKENS if reply.fills_context else 10
    usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
    reason = "tool_calls" if call_count else "stop"
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


def _text_of(content: Any) -> str:
    """Return the text of a content, which is a text or a list of parts."""
    if isinstance(content, list):
        return "\n".join([str(part.get("text", "")) for part in content])
    return str(content or "")
