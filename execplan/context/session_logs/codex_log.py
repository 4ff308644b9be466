"""Reader for Codex session logs (rollouts): one JSON object with a type and a payload per line.

Older logs have only the payload on each line.
"""

from __future__ import annotations

import json

from execplan.context.session_logs.session_log import Line, SessionLog, UnitCollector, extract_text, parse_lines

PROGRAM = "Codex"
_LINE_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_CALL_ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action"}
"""Item types that call a tool, and the field with the tool's arguments."""
_RESULT_TYPES = ("function_call_output", "custom_tool_call_output")
_ITEM_TYPES = ("message", "reasoning", *_CALL_ARGUMENTS, *_RESULT_TYPES)
_ROLES = ("user", "assistant")
_INJECTED_PREFIXES = (
    "<environment_context",
    "<user_instructions",
    "<permissions",
    "<turn_aborted",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS",
)
"""Prefixes of texts that Codex itself inserts as user messages, which it repeats in every session."""


def is_log_line(line: Line) -> bool:
    """Return whether a line belongs to a Codex log."""
    if line.get("type") in _LINE_TYPES:
        return isinstance(line.get("payload"), dict)
    return line.get("type") in _ITEM_TYPES and "uuid" not in line


def read(data: bytes) -> SessionLog:
    """Read a log since the last compaction. Content that is logged twice, also as an event, is read once."""
    collector, model = UnitCollector(), ""
    unreadable_lines = earlier_messages = 0
    for number, line in parse_lines(data):
        kind = line.get("type") if line is not None else None
        payload = line if line is None or kind in _ITEM_TYPES else line.get("payload")
        if line is None or not (isinstance(payload, dict) or _is_metadata(line)):
            unreadable_lines += 1
        elif kind == "turn_context" and isinstance(payload, dict):
            model_name = payload.get("model")
            model = model_name if isinstance(model_name, str) else model
        elif kind == "compacted" and isinstance(payload, dict):
            earlier_messages += collector.clear()
            _add_replacement(collector, number, payload)
        elif (kind == "response_item" or kind in _ITEM_TYPES) and isinstance(payload, dict):
            _add(collector, number, payload)
    return SessionLog(PROGRAM, model, tuple(collector.units), unreadable_lines, earlier_messages, 0)


def _is_metadata(line: Line) -> bool:
    """Return whether a line of an older log has metadata of the session rather than a message."""
    return "record_type" in line or ("id" in line and "timestamp" in line)


def _add_replacement(collector: UnitCollector, number: int, payload: Line) -> None:
    """Add the history and summary that replace the messages before a compaction."""
    history = payload.get("replacement_history")
    if isinstance(history, list):
        for item in history:
            if isinstance(item, dict):
                _add(collector, number, item)
    collector.add_message(number, "summary of earlier messages", extract_text(payload.get("message")))


def _add(collector: UnitCollector, number: int, item: Line) -> None:
    """Add a message, a tool call or its result; reasoning and texts that Codex inserts are left out."""
    kind = str(item.get("type"))
    call_id = str(item.get("call_id") or item.get("id") or "")
    if kind == "message" and item.get("role") in _ROLES:
        text = extract_text(item.get("content"))
        if not (item["role"] == "user" and text.lstrip().startswith(_INJECTED_PREFIXES)):
            collector.add_message(number, item["role"], text)
    elif kind in _CALL_ARGUMENTS:
        arguments = item.get(_CALL_ARGUMENTS[kind])
        collector.add_call(number, str(item.get("name") or "shell"), call_id, _parse_packed(arguments))
    elif kind in _RESULT_TYPES:
        output = _parse_packed(item.get("output"))
        collector.add_result(number, call_id, extract_text(output))


def _parse_packed(value: object) -> object:
    """Parse a value that may be JSON inside a string."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
