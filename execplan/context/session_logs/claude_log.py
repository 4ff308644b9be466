"""Reader for Claude Code session logs: one JSON object with a type per line, and messages with parts as in the API."""

from __future__ import annotations

from collections.abc import Sequence

from execplan.context.session_logs.session_log import Line, SessionLog, UnitCollector, extract_text, parse_lines

PROGRAM = "Claude Code"
_MESSAGE_TYPES = ("user", "assistant")
_COMPACT_BOUNDARY = "compact_boundary"


def is_log_line(line: Line) -> bool:
    """Return whether a line belongs to a Claude Code log."""
    return line.get("type") in _MESSAGE_TYPES and isinstance(line.get("message"), dict)


def read(data: bytes) -> SessionLog:
    """Read a log since the last compaction. Lines of other agents are left out unless there are no others."""
    lines = list(parse_lines(data))
    message_lines = [line for _, line in lines if line is not None and is_log_line(line)]
    is_only_sidechain = all([line.get("isSidechain") is True for line in message_lines])
    collector, model = UnitCollector(), ""
    unreadable_lines = earlier_messages = other_agent_lines = 0
    for number, line in lines:
        if line is None or not isinstance(line.get("type"), str):
            unreadable_lines += 1
        elif line.get("isSidechain") is True and not is_only_sidechain:
            other_agent_lines += 1
        elif line["type"] == "system" and line.get("subtype") == _COMPACT_BOUNDARY:
            earlier_messages += collector.clear()
        elif line["type"] in _MESSAGE_TYPES and line.get("isMeta") is not True:
            message = line.get("message")
            if not isinstance(message, dict) or not _add(collector, number, line, message.get("content")):
                unreadable_lines += 1
                continue
            model_name = message.get("model")
            model = model_name if isinstance(model_name, str) and not model_name.startswith("<") else model
    return SessionLog(PROGRAM, model, tuple(collector.units), unreadable_lines, earlier_messages, other_agent_lines)


def _add(collector: UnitCollector, number: int, line: Line, content: object) -> bool:
    """Add the content of a message; return False if its form is unknown."""
    speaker = "summary of earlier messages" if line.get("isCompactSummary") is True else line["type"]
    content_parts: Sequence[object] = [{"type": "text", "text": content}] if isinstance(content, str) else ()
    if isinstance(content, list):
        content_parts = content
    elif not isinstance(content, str):
        return False
    for content_part in content_parts:
        if not isinstance(content_part, dict):
            return False
        kind = content_part.get("type")
        if kind == "text":
            collector.add_message(number, speaker, extract_text([content_part]))
        elif kind == "tool_use":
            collector.add_call(
                number, str(content_part.get("name", "")), str(content_part.get("id", "")), content_part.get("input")
            )
        elif kind == "tool_result":
            collector.add_result(
                number, str(content_part.get("tool_use_id", "")), extract_text(content_part.get("content"))
            )
    return True
