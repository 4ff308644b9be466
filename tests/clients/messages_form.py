"""The Messages form, which Claude Code speaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.clients.model_server import Reply, Request, Say

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "/v1/messages"
_COMPACTION = "create a detailed summary of the conversation"
"""A part of the request with which Claude Code asks for a summary."""
_FULL_CONTEXT_TOKENS = 199_000


def parse_request(body: dict[str, Any]) -> Request:
    """Parse a request."""
    blocks = [block for message in body["messages"] for block in _blocks(message["content"])]
    results = tuple(
        [(block["tool_use_id"], _text_of(block.get("content"))) for block in blocks if block["type"] == "tool_result"]
    )
    texts = [_text_of(body.get("system")), *[_text_of(block.get("text") or block.get("content")) for block in blocks]]
    tools = [str(tool.get("name")) for tool in body.get("tools") or ()]
    return Request("\n".join(texts), results, tuple(tools), _COMPACTION in texts[-1])


def format_reply(reply: Reply, number: int, first_call: int) -> Iterator[dict[str, Any]]:
    """Yield the events of an answer."""
    tokens = _FULL_CONTEXT_TOKENS if reply.fills_context else 10
    message = {"id": f"message-{number}", "type": "message", "role": "assistant", "model": "fake", "content": []}
    ending: dict[str, str | None] = {"stop_reason": None, "stop_sequence": None}
    yield {
        "type": "message_start",
        "message": {**message, **ending, "usage": {"input_tokens": tokens, "output_tokens": 1}},
    }
    has_calls = False
    for index, action in enumerate(reply.actions):
        if isinstance(action, Say):
            block: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": action.text}
        else:
            block = {"type": "tool_use", "id": f"call-{first_call}", "name": action.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(action.arguments)}
            first_call, has_calls = first_call + 1, True
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending["stop_reason"] = "tool_use" if has_calls else "end_turn"
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _blocks(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join([str(block.get("text", "")) for block in content if isinstance(block, dict)])
    return str(content or "")
