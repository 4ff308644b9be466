"""The Generate Content form, which Gemini CLI speaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.clients.model_server import Reply, Request, Say

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = ":streamGenerateContent"
_COMPACTION = "<state_snapshot>"
"""A part of the request with which Gemini CLI asks for a summary."""
_FRAME = r"\A<untrusted_context>\n(?:Output: )?|(?:\nProcess Group PGID: \d+)?\n</untrusted_context>\Z"
"""What the program writes around the output of a tool."""
_FULL_CONTEXT_TOKENS = 1_000_000


def parse_request(body: dict[str, Any]) -> Request:
    """Parse a request."""
    instruction = (body.get("systemInstruction") or {}).get("parts") or ()
    parts = [*instruction, *[part for content in body["contents"] for part in content["parts"]]]
    responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
    results = [(str(response.get("id")), _text_of(response["response"])) for response in responses]
    texts = [part["text"] for part in parts if "text" in part]
    tools = [
        str(declaration["name"])
        for tool in body.get("tools") or ()
        for declaration in tool.get("functionDeclarations", ())
    ]
    is_compaction = not tools and _COMPACTION in texts[0]
    return Request("\n".join([*texts, *[text for _, text in results]]), tuple(results), tuple(tools), is_compaction)


def format_reply(reply: Reply, number: int, first_call: int) -> Iterator[dict[str, Any]]:
    """Yield the events of an answer."""
    parts: list[dict[str, Any]] = []
    for action in reply.actions:
        if isinstance(action, Say):
            parts.append({"text": action.text})
        else:
            call = {"id": f"call-{first_call}", "name": action.name, "args": action.arguments}
            parts.append({"functionCall": call, "thoughtSignature": "aW52ZW50ZWQ="})
            first_call += 1
    tokens = _FULL_CONTEXT_TOKENS if reply.fills_context else 10
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 1, "totalTokenCount": tokens + 1}
    yield {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "fake",
        "responseId": f"response-{number}",
    }


def _text_of(response: dict[str, Any]) -> str:
    """Return the text of a tool's result, which is its output or an error, without the lines around it."""
    text = str(response.get("output") or response.get("error") or response)
    return re.sub(_FRAME, "", text)
